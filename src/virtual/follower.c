#include "follower.h"

#include "apply.h"
#include "leader.h"
#include "log.h"
#include "peers.h"
#include "request.h"
#include "server.h"

/* ---- To the leader ------------------------------------------------------- */

static void drop_identities(void *list) { acl_list_drop(list); }

void follower_forwards(struct server *server, const struct forward *forward,
                       int64_t now) {
  if (server->role == LEADING) {
    leader_takes(server, forward, now);
    return;
  }
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
  peers_tell_leader(server, message, now);
}

static void acknowledge(struct server *server, int64_t now) {
  struct message *message = message_new(TO_LEADER_ACK);
  message->number = server->logged;
  peers_tell_leader(server, message, now);
}

void follower_touches(struct server *server, int64_t session,
                      int32_t timeout_ms, int64_t now) {
  if (server->role == LEADING) {
    leader_touches(server, session, timeout_ms, now);
    return;
  }
  for (int i = 0; i < server->touched_count; i++)
    if (server->touched[i].id == session) return;
  server->touched = with_room(server->touched, server->touched_count,
                              &server->touched_room, sizeof *server->touched);
  server->touched[server->touched_count++] =
      (struct session_record){session, timeout_ms};
}

/* Returns ZK_OK if this server may serve a read of the session, otherwise the
 * error code. Only a leader or a standalone server can check that; a follower
 * always returns ZK_OK. */
int follower_checks(struct server *server, int64_t session) {
  return server->role == LEADING
             ? leader_checks(server, session, server->number)
             : ZK_OK;
}

/* Reports to the leader which sessions have sent a request since the last
 * report. The leader then extends these sessions. */
static void report_touched(struct server *server, int64_t now) {
  struct message *message = message_new(TO_LEADER_TOUCHED);
  message->arena = arena_new();
  message->number = server->touched_count;
  message->content = (void *)arena_bytes(message->arena, server->touched,
                                         (size_t)server->touched_count *
                                             sizeof *server->touched);
  server->touched_count = 0;
  peers_tell_leader(server, message, now);
}

/* ---- From the leader ----------------------------------------------------- */

/* Delays a commit by the server's lag (server_lag). Also delays the leader's
 * answers, because they must not overtake the commits. */
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
      peers_log(server, message->number, now);
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

/* ---- Time ---------------------------------------------------------------- */

static bool has_lost_leader(const struct server *server, int64_t now) {
  const struct ensemble_settings *s = &server->ensemble->settings;
  const struct server *leader = server->leader;
  bool gone = leader->role != LEADING || leader->epoch != server->epoch;
  if (gone && peers_reach(server, leader)) return true;
  return now - server->heard_leader > s->sync_limit * s->tick_ms * MILLISECOND;
}

static void tick(void *self, int64_t now) {
  struct server *server = self;
  if (server->role == LEADING)
    leader_ticks(server, now);
  else if (server->role == FOLLOWING && has_lost_leader(server, now))
    server->ensemble->hooks->steps_down(server, now);
  follower_wakes(server, now);
}

void follower_wakes(struct server *server, int64_t now) {
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
  /* Releases the lanes: they can still be held since the server followed an
   * earlier leader. */
  lane_release(&server->to_leader, ~0u, now);
  lane_release(&server->from_leader, ~0u, now);
  log_adopt(server, leader);
  server->acknowledged = server->logged;
  server->heard_leader = server->heard_by_leader = now;
  server->touched_count = 0;
  follower_wakes(server, now);
}

void follower_init(struct server *server) {
  struct agenda *agenda = &server->ensemble->agenda;
  lane_init(&server->to_leader, agenda, leader_hears, server);
  lane_init(&server->from_leader, agenda, arrive_at_follower, server);
  lane_init(&server->disk, agenda, has_logged, server);
  lane_init(&server->applying, agenda, apply_now, server);
  alarm_init(&server->tick, tick, server);
  leader_init(server);
}
