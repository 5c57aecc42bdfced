/* What goes on between a server and its leader, and in time. */
#include <stdlib.h>
#include <string.h>

#include "inside.h"
#include "request.h"

static int64_t on_the_way(struct server *server, int64_t now) {
  struct ensemble *e = server->ensemble;
  return now + ensemble_latency(e, &e->settings.server);
}

/* ---- To the leader ------------------------------------------------------------ */

static void drop_identities(void *list) { acl_list_drop(list); }

void follower_forwards(struct server *server, const struct forward *forward,
                       int64_t now) {
  if (!server->leader) return;
  struct message *message = message_new(TO_LEADER_FORWARD);
  message->arena = arena_new();
  struct forward *copy = arena_alloc(message->arena, sizeof *copy);
  *copy = *forward;
  if (forward->request)
    copy->request = request_copy(message->arena, forward->request);
  if (forward->identities) {
    message->shared = acl_list_keep(forward->identities);
    message->drop = drop_identities;
  }
  message->content = copy;
  lane_send(&server->to_leader, message, on_the_way(server, now));
}

static void acknowledge(struct server *server, int64_t now) {
  struct message *message = message_new(TO_LEADER_ACK);
  message->number = server->logged;
  lane_send(&server->to_leader, message, on_the_way(server, now));
}

static void arrive_at_leader(void *self, struct message *message, int64_t now) {
  struct server *server = self;
  if (server->leader && server->leader->role == LEADING)
    leader_hears(server->leader, server, message, now);
}

/* The sessions that its clients have touched since the last time. */
static void report_touched(struct server *server, int64_t now) {
  struct message *message = message_new(TO_LEADER_TOUCHED);
  message->arena = arena_new();
  message->number = server->touched_count;
  message->content = (void *)arena_bytes(message->arena, server->touched,
                                         (size_t)server->touched_count *
                                             sizeof *server->touched);
  server->touched_count = 0;
  lane_send(&server->to_leader, message, on_the_way(server, now));
}

/* ---- From the leader ----------------------------------------------------------- */

void follower_tell(struct server *follower, struct message *message,
                   int64_t now) {
  if (follower->role != FOLLOWING)
    message_free(message);
  else
    lane_send(&follower->from_leader, message, on_the_way(follower, now));
}

static void log_later(struct server *server, int64_t zxid, int64_t now) {
  struct ensemble *e = server->ensemble;
  struct message *message = message_new(0);
  message->number = zxid;
  lane_send(&server->disk, message,
            now + ensemble_latency(e, &e->settings.disk));
}

/* Commits, and answers that must not be given before them. */
static void apply_later(struct server *server, struct message *message,
                        int64_t now) {
  struct message *later = message_new(message->kind);
  later->number = message->number;
  later->content = message->content;
  later->arena = message->arena;
  message->arena = NULL;
  lane_send(&server->applying, later, now + server->lag);
}

static void arrive_at_follower(void *self, struct message *message,
                               int64_t now) {
  struct server *server = self;
  const struct forward *answer = message->content;
  if (server->role != FOLLOWING) return;
  server->heard_leader = now;
  switch ((enum from_leader)message->kind) {
    case FROM_LEADER_PROPOSAL:
      log_append(server, message->shared);
      log_later(server, message->number, now);
      break;
    case FROM_LEADER_COMMIT:
      server->committed = message->number;
      apply_later(server, message, now);
      break;
    case FROM_LEADER_ANSWER:
      if (answer->op == ZK_PING)
        server_answers(server, answer, now);
      else
        apply_later(server, message, now);
      break;
    case FROM_LEADER_PING:
      report_touched(server, now);
      break;
  }
}

static void has_logged(void *self, struct message *message, int64_t now) {
  struct server *server = self;
  if (message->number > server->logged) server->logged = message->number;
  if (server->role == LEADING) leader_commits(server, now);
  if (server->role == FOLLOWING) acknowledge(server, now);
}

static void apply_now(void *self, struct message *message, int64_t now) {
  struct server *server = self;
  if (message->kind == FROM_LEADER_COMMIT)
    apply_until(server, message->number, now);
  else
    server_answers(server, message->content, now);
}

/* ---- Time --------------------------------------------------------------------- */

static bool has_lost_leader(const struct server *server, int64_t now) {
  const struct ensemble_settings *s = &server->ensemble->settings;
  const struct server *leader = server->leader;
  bool gone = leader->role != LEADING || leader->epoch != server->epoch;
  if (gone && server_reaches(server, leader)) return true;
  return now - server->heard_leader > s->sync_limit * s->tick_ms * MILLISECOND;
}

static void tick(void *self, int64_t now) {
  struct server *server = self;
  if (server->role == LEADING)
    leader_ticks(server, now);
  else if (server->role == FOLLOWING && has_lost_leader(server, now))
    server_steps_down(server, now);
  server_wakes(server, now);
}

void server_wakes(struct server *server, int64_t now) {
  struct ensemble *e = server->ensemble;
  int64_t half = e->settings.tick_ms * MILLISECOND / 2;
  if (server->role != LOOKING && e->settings.servers > 1)
    alarm_set(&e->agenda, &server->tick, now + half);
}

void follower_begins(struct server *server, struct server *leader,
                     int64_t now) {
  server->role = FOLLOWING;
  server->leader = leader;
  server->epoch = leader->epoch;
  lane_clear(&server->disk);
  log_adopt(server, leader);
  server->acknowledged = server->logged;
  server->heard_leader = server->heard_by_leader = now;
  server->touched_count = 0;
  server_wakes(server, now);
}

void follower_init(struct server *server) {
  struct agenda *agenda = &server->ensemble->agenda;
  lane_init(&server->to_leader, agenda, arrive_at_leader, server);
  lane_init(&server->from_leader, agenda, arrive_at_follower, server);
  lane_init(&server->disk, agenda, has_logged, server);
  lane_init(&server->applying, agenda, apply_now, server);
  alarm_init(&server->tick, tick, server);
  leader_init(server);
}
