/* The ensemble comes back without its data: what the guarantees assume does not
 * happen (doc/guarantees.md).
 *
 * Late: as the runbook of doc/operations.md says.  No server serves for longer
 * than a session lives, and the epoch is higher than before.  To clients it is
 * an outage in which all sessions have expired, and every promise holds.
 *
 * Early: the servers serve again at once, and with smaller numbers. A holder
 * can believe beside the next one, and tokens go back. The other promises hold:
 * every client comes back, each loss is told, and no node stays behind. */
#include "world.h"

enum { EPOCH = 1000 };

/* Longer than the longest session, by a clock that is slow. */
static int64_t outage(struct world *w, bool early) {
  int64_t longest = w->zoo.grants[0];
  return early ? MILLISECOND + world_span(w, longest)
               : longest + longest / 8 + w->zoo.tick;
}

void data_loss_plan(struct world *w) {
  if (!fault_is(w, FAULT_DATA_LOSS)) return;
  bool early = random_chance(&w->random, 50);
  w->zoo.history.epoch = EPOCH;
  agenda_add(&w->agenda, world_span(w, w->profile.active), SERVERS_END, 0,
             early);
  /* (Whatever lasts ends when the calm begins.) */
  w->profile.active += 2 * outage(w, false);
}

void data_loss_servers_end(struct world *w, int early) {
  struct zoo *zoo = &w->zoo;
  int64_t until = w->now + outage(w, early);
  trace(w, NOBODY, "! all servers end, and begin without data at %.3f ms",
        (double)until / 1e6);
  for (int i = 0; i < zoo->server_count; i++)
    zoo->servers[i].stopped_until = until + 1;
  for (int i = 0; i < zoo->connection_count; i++)
    connection_breaks(w, &zoo->connections[i], true,
                      random_chance(&w->random, 50),
                      random_chance(&w->random, 15));
  agenda_add(&w->agenda, until, SERVERS_BEGIN_EMPTY, 0, early);
}

static void forget_sessions(struct world *w, bool early) {
  for (int i = 0; i < w->zoo.session_count; i++) {
    struct zoo_session *s = &w->zoo.sessions[i];
    if (!s->alive) continue;
    if (!early) invariants_expiring(w, i);
    s->alive = false;
    s->forced = early;
  }
}

/* Children are younger than their directories. */
static void forget_nodes(struct world *w, bool early) {
  struct history *h = &w->zoo.history;
  for (int i = h->node_count; i-- > 0;) {
    if (!node_is_there(&h->nodes[i])) continue;
    history_remove(h, i, early || h->nodes[i].session == NOBODY);
    invariants_removed(w, i);
    history_append(h, DID_REMOVE, i, NOBODY);
    h->log[h->log_count - 1].at = w->now;
  }
}

static void forget_locks(struct world *w, bool early) {
  for (int i = 0; i < w->profile.lock_count; i++) {
    struct lock *lock = &w->profile.locks[i];
    lock->made = false;
    if (!early) continue;
    lock->tampered = true;
    lock->token = lock->writer_token = 0;
  }
}

void data_loss_servers_begin(struct world *w, int early) {
  struct zoo *zoo = &w->zoo;
  trace(w, NOBODY, "! all servers begin, without data");
  forget_sessions(w, early);
  forget_nodes(w, early);
  forget_locks(w, early);
  for (int i = 0; i < zoo->server_count; i++) server_begins(w, i);
  zoo->history.epoch += early ? 1 - EPOCH : EPOCH;
  if (early) zoo->data_lost_at = zoo->history.log_count;
}
