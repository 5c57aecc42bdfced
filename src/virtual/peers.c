#include "peers.h"

bool peers_follows(const struct server *server, const struct server *leader) {
  return server->role == FOLLOWING && server->leader == leader &&
         server->epoch == leader->epoch;
}

bool peers_reach(const struct server *server, const struct server *other) {
  return server->group == other->group;
}

static int64_t arrival_time(const struct server *server, int64_t now) {
  struct ensemble *e = server->ensemble;
  return now + latency_of(e, &e->settings.server);
}

void peers_tell_follower(struct server *follower, struct message *message,
                         int64_t now) {
  if (!follower->leader || !peers_follows(follower, follower->leader))
    message_free(message);
  else
    lane_send(&follower->from_leader, message, arrival_time(follower, now));
}

void peers_tell_leader(struct server *follower, struct message *message,
                       int64_t now) {
  if (follower->role != FOLLOWING)
    message_free(message);
  else
    lane_send(&follower->to_leader, message, arrival_time(follower, now));
}

void peers_log(struct server *server, int64_t zxid, int64_t now) {
  struct ensemble *e = server->ensemble;
  struct message *message = message_new(0);
  message->number = zxid;
  lane_send(&server->disk, message, now + latency_of(e, &e->settings.disk));
}

int majority_of(const struct ensemble *e) {
  return (e->settings.servers - e->settings.observers) / 2 + 1;
}
