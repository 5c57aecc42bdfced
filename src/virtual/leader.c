#include "leader.h"

#include <stdlib.h>

#include "apply.h"
#include "log.h"
#include "peers.h"
#include "prepare.h"
#include "server.h"

#define EACH_FOLLOWER(f, leader)                                       \
  for (struct server *f = (leader)->ensemble->servers,                 \
                     *end_ = f + (leader)->ensemble->settings.servers; \
       f < end_; f++)                                                  \
    if (peers_follows(f, leader))

static int64_t time_ms(const struct server *server, int64_t now) {
  return server->ensemble->settings.epoch_ms + now / MILLISECOND;
}

static struct preparation preparation_of(struct server *leader, int64_t session,
                                         int64_t now) {
  const struct ensemble_settings *s = &leader->ensemble->settings;
  return (struct preparation){.tree = leader->head,
                              .session = session,
                              .zxid = ++leader->zxid,
                              .time_ms = time_ms(leader, now),
                              .ttl = s->ttl,
                              .containers = s->containers,
                              .multi_create2 = s->multi_create2,
                              .enforces_quotas = s->enforces_quotas};
}

static bool is_kept(int64_t owner) {
  return owner == CONTAINER_OWNER || (owner & TTL_OWNER) == TTL_OWNER;
}

/* Schedules the next search for containers and TTL nodes that can be deleted,
 * unless one is already scheduled. Searches happen at multiples of a fixed
 * interval. */
static void look_at_containers(struct server *leader, int64_t now) {
  int64_t interval =
      leader->ensemble->settings.container_interval_ms * MILLISECOND;
  if (interval <= 0 || leader->containers.at != NEVER) return;
  int64_t since = now - leader->tracker.phase;
  alarm_set(&leader->ensemble->agenda, &leader->containers,
            now + interval - since % interval);
}

static void note_changes(struct server *leader, const struct txn *txn,
                         int64_t now) {
  for (int i = 0; i < txn->change_count; i++) {
    if (is_kept(txn->changes[i].owner)) look_at_containers(leader, now);
    leader->overran |= txn->changes[i].cversion < 0;
  }
}

static void propose(struct server *leader, struct txn *txn, int64_t now) {
  log_append(leader, txn);
  EACH_FOLLOWER(f, leader) {
    struct message *proposal = message_new(FROM_LEADER_PROPOSAL);
    proposal->number = txn->zxid;
    proposal->shared = txn_keep(txn);
    proposal->drop = txn_drop;
    peers_tell_follower(f, proposal, now);
  }
  note_changes(leader, txn, now);
  peers_log(leader, txn->zxid, now);
  txn_drop(txn);
}

/* ---- Sessions ------------------------------------------------------------ */

static void expect_expiry(struct server *leader, int64_t at) {
  if (leader->expiry.at == NEVER || at < leader->expiry.at)
    alarm_set(&leader->ensemble->agenda, &leader->expiry, at);
}

void leader_touches(struct server *leader, int64_t session, int32_t timeout_ms,
                    int64_t now) {
  struct tracked *tracked = tracker_find(&leader->tracker, session);
  if (!tracked) return;
  tracker_touch(&leader->tracker, tracked, timeout_ms, now);
  expect_expiry(leader, tracked->expires);
}

int leader_checks(struct server *leader, int64_t session, int server) {
  struct tracked *tracked = tracker_find(&leader->tracker, session);
  if (!tracked) return ZK_SESSION_EXPIRED;
  if (tracked->owner < 0) tracked->owner = server;
  return tracked->owner == server ? ZK_OK : ZK_SESSION_MOVED;
}

static void end_session(struct server *leader, int64_t session,
                        const struct origin *origin, int64_t now) {
  tracker_remove(&leader->tracker, session);
  struct preparation p = preparation_of(leader, session, now);
  struct txn *txn = prepare_end_of_session(&p);
  if (origin) txn->origin = *origin;
  propose(leader, txn, now);
}

bool leader_ends_session(struct server *leader, int64_t session, int64_t now) {
  if (!tracker_find(&leader->tracker, session)) return false;
  end_session(leader, session, NULL, now);
  return true;
}

static void expire(void *self, int64_t now) {
  struct server *leader = self;
  for (int i = leader->tracker.count - 1; i >= 0; i--) {
    const struct tracked *t = &leader->tracker.list[i];
    if (t->expires <= now) end_session(leader, t->id, NULL, now);
  }
  int64_t next = tracker_next(&leader->tracker);
  if (next != NEVER) expect_expiry(leader, next);
}

/* ---- Requests ------------------------------------------------------------ */

static void answer(struct server *leader, const struct forward *forward,
                   bool valid, int64_t now) {
  struct forward answer_ = *forward;
  answer_.identities = NULL;
  answer_.request = NULL;
  answer_.valid = valid;
  if (forward->origin.server == leader->number) {
    server_answers(leader, &answer_, now);
    return;
  }
  struct message *message = message_new(FROM_LEADER_ANSWER);
  message->arena = arena_new();
  message->content =
      (void *)arena_bytes(message->arena, &answer_, sizeof answer_);
  peers_tell_follower(&leader->ensemble->servers[forward->origin.server],
                      message, now);
}

static void validate(struct server *leader, const struct forward *forward,
                     int64_t now) {
  struct tracked *tracked = tracker_find(&leader->tracker, forward->session);
  bool valid = tracked != NULL;
  if (valid) {
    leader_touches(leader, forward->session, forward->timeout_ms, now);
    tracked->owner = forward->origin.server;
  }
  answer(leader, forward, valid, now);
}

static void synchronize(struct server *leader, const struct forward *forward,
                        int64_t now) {
  if (log_last(leader) <= leader->committed) {
    answer(leader, forward, true, now);
    return;
  }
  struct waiting_sync *sync = fresh(sizeof *sync), **end = &leader->syncs;
  *sync = (struct waiting_sync){NULL, log_last(leader), forward->origin};
  while (*end) end = &(*end)->next;
  *end = sync;
}

static void begin_session(struct server *leader, const struct forward *forward,
                          int64_t now) {
  struct tracked *tracked =
      tracker_add(&leader->tracker, forward->session, forward->timeout_ms, now);
  tracked->owner = forward->origin.server;
  expect_expiry(leader, tracked->expires);
  struct preparation p = preparation_of(leader, forward->session, now);
  struct txn *txn = prepare_session(&p, forward->timeout_ms);
  txn->origin = forward->origin;
  propose(leader, txn, now);
}

void leader_takes(struct server *leader, const struct forward *forward,
                  int64_t now) {
  switch (forward->op) {
    case ZK_CREATE_SESSION:
      begin_session(leader, forward, now);
      return;
    case ZK_CLOSE_SESSION:
      end_session(leader, forward->session, &forward->origin, now);
      return;
    case ZK_PING:
      validate(leader, forward, now);
      return;
    case ZK_SYNC:
      synchronize(leader, forward, now);
      return;
    default:
      break;
  }
  int rc = leader_checks(leader, forward->session, forward->origin.server);
  struct preparation p = preparation_of(leader, forward->session, now);
  p.identities = forward->identities;
  struct txn *txn = rc == ZK_OK ? prepare_request(&p, forward->request)
                                : prepare_refusal(&p, forward->op, rc);
  txn->origin = forward->origin;
  propose(leader, txn, now);
}

void leader_hears(void *self, struct message *message, int64_t now) {
  struct server *follower = self, *leader = follower->leader;
  if (!leader || leader->role != LEADING || !peers_follows(follower, leader))
    return;
  const struct session_record *touched = message->content;
  follower->heard_by_leader = now;
  switch ((enum to_leader)message->kind) {
    case TO_LEADER_FORWARD:
      leader_takes(leader, message->content, now);
      break;
    case TO_LEADER_ACK:
      if (message->number > follower->acknowledged)
        follower->acknowledged = message->number;
      leader_commits(leader, now);
      break;
    case TO_LEADER_TOUCHED:
      for (int i = 0; i < message->number; i++)
        leader_touches(leader, touched[i].id, touched[i].timeout_ms, now);
      break;
  }
}

/* ---- Commits ------------------------------------------------------------- */

static int descending(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? 1 : x > y ? -1 : 0;
}

/* Returns the zxid of the newest transaction that a majority has logged. */
static int64_t safe_until(struct server *leader) {
  int64_t logged[64] = {leader->logged};
  int count = 1;
  EACH_FOLLOWER(f, leader)
  if (!f->observer && count < 64) logged[count++] = f->acknowledged;
  qsort(logged, (size_t)count, sizeof *logged, descending);
  int majority = majority_of(leader->ensemble);
  return count < majority ? 0 : logged[majority - 1];
}

static void answer_syncs(struct server *leader, int64_t now) {
  while (leader->syncs && leader->syncs->zxid <= leader->committed) {
    struct waiting_sync *sync = leader->syncs;
    leader->syncs = sync->next;
    struct forward f = {.op = ZK_SYNC, .origin = sync->origin};
    answer(leader, &f, true, now);
    free(sync);
  }
}

static void make_head(struct server *leader) {
  tree_free(leader->head);
  leader->head = tree_copy(leader->tree);
  leader->head->is_head = true;
  leader->overran = false;
}

void leader_commits(struct server *leader, int64_t now) {
  int64_t safe = safe_until(leader);
  if (safe <= leader->committed || !leader->serving) return;
  leader->committed = safe;
  EACH_FOLLOWER(f, leader) {
    struct message *commit = message_new(FROM_LEADER_COMMIT);
    commit->number = safe;
    peers_tell_follower(f, commit, now);
  }
  apply_until(leader, safe, now);
  if (leader->overran && safe == leader->zxid) make_head(leader);
  answer_syncs(leader, now);
}

/* ---- Containers ---------------------------------------------------------- */

static bool is_unused(const struct server *leader, const struct node *node,
                      int64_t now) {
  int64_t ttl = node->state.owner & INT64_C(0xffffffffff);
  if (!is_kept(node->state.owner) || node->count > 0) return false;
  if (node->state.owner == CONTAINER_OWNER) return node->state.cversion > 0;
  return time_ms(leader, now) - node->state.mtime > ttl;
}

static void delete_unused(void *self, int64_t now) {
  struct server *leader = self;
  bool any = false;
  for (struct node *next, *n = leader->head->first_owned; n; n = next) {
    next = n->next_owned;
    any |= is_kept(n->state.owner);
    if (!is_unused(leader, n, now)) continue;
    char *path = node_path(n);
    struct preparation p = preparation_of(leader, 0, now);
    propose(leader, prepare_end_of_container(&p, path), now);
    free(path);
  }
  if (any) look_at_containers(leader, now);
}

/* ---- Start and end ------------------------------------------------------- */

/* Makes the leader serve clients. First commits all transactions of the
 * leader's log, because a majority of the servers now has them. */
void leader_begins(struct server *leader, int64_t now) {
  struct ensemble *e = leader->ensemble;
  int64_t tick = e->settings.tick_ms * MILLISECOND;
  bool alone = e->settings.servers == 1;
  leader->committed = log_last(leader);
  apply_until(leader, leader->committed, now);
  leader->zxid = alone ? log_last(leader) : leader->epoch << 32;
  leader->tree->zxid = leader->committed = leader->logged = leader->zxid;
  make_head(leader);
  leader->tracker =
      (struct tracker){.tick = tick,
                       .phase = now - (int64_t)chance_below(&e->choices,
                                                            (uint64_t)tick)};
  for (int i = 0; i < leader->tree->session_count; i++) {
    const struct session_record *s = &leader->tree->sessions[i];
    expect_expiry(
        leader,
        tracker_add(&leader->tracker, s->id, s->timeout_ms, now)->expires);
  }
  for (struct node *n = leader->head->first_owned; n; n = n->next_owned)
    if (is_kept(n->state.owner)) look_at_containers(leader, now);
  leader->serving = true;
}

void leader_ends(struct server *leader) {
  struct agenda *agenda = &leader->ensemble->agenda;
  tree_free(leader->head);
  leader->head = NULL;
  tracker_clear(&leader->tracker);
  for (struct waiting_sync *next, *s = leader->syncs; s; s = next) {
    next = s->next;
    free(s);
  }
  leader->syncs = NULL;
  alarm_stop(agenda, &leader->expiry);
  alarm_stop(agenda, &leader->containers);
}

void leader_init(struct server *server) {
  alarm_init(&server->expiry, expire, server);
  alarm_init(&server->containers, delete_unused, server);
}

/* Called twice per tick. If the leader has had no contact with a majority for
 * `sync_limit` ticks, makes it step down. Otherwise pings the followers. */
void leader_ticks(struct server *leader, int64_t now) {
  const struct ensemble_settings *s = &leader->ensemble->settings;
  int64_t patience = s->sync_limit * s->tick_ms * MILLISECOND;
  int heard = 1;
  EACH_FOLLOWER(f, leader)
  if (!f->observer && now - f->heard_by_leader <= patience) heard++;
  if (heard < majority_of(leader->ensemble)) {
    leader->ensemble->hooks->steps_down(leader, now);
    return;
  }
  EACH_FOLLOWER(f, leader)
  peers_tell_follower(f, message_new(FROM_LEADER_PING), now);
}
