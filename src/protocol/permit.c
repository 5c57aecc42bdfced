/* The semaphore, by the protocol of Curator's InterProcessSemaphoreV2: an
 * inner mutex lets in one at a time; whoever is inside makes a lease and
 * waits until there are no more leases than permits.  Only who is inside
 * adds leases, so the count can only fall meanwhile. */
#include <string.h>

#include "moves.h"

static news_handler hear_gate;

void permit_begin(struct contender *c) {
  struct session *s = contender_session(c);
  const struct lane *leases = c->lane;
  size_t parent = leases->length - strlen(LEASES);
  struct contender_options options = {.kind = KIND_MUTEX,
                                      .deadline = NEVER,
                                      .max_hold = NEVER,
                                      .patient = c->options.patient,
                                      .data = c->options.data,
                                      .size = c->options.size};
  if (c->gate_running) return;
  char *path = c->path; /* not yet in use */
  memcpy(path, leases->path, parent);
  memcpy(path + parent, LOCKS, sizeof LOCKS);
  struct lane *lane = session_lane(s, path);
  if (!lane) {
    session_retry(s);
    return;
  }
  contender_init(c->gate, &options, hear_gate, c);
  c->gate->lease_of = c;
  c->gate_running = true;
  contender_join(c->gate, lane);
}

/* Decided: the next one may ask. */
void permit_end(struct contender *c) {
  if (!c->gate_running) return;
  if (c->gate->state == CONTENDER_HELD)
    contender_release(c->gate);
  else
    contender_refuse(c->gate, VERDICT_CANCELLED, 0);
}

/* Somebody else may be inside now: give the lease back and begin again. */
static void gate_lost(struct contender *c) {
  c->gate_open = false;
  if (c->decided || c->state == CONTENDER_PARKED) return;
  if (c->state == CONTENDER_LEAVING) return; /* again already */
  c->again = true;
  contender_leave(c);
}

static void hear_gate(struct contender *gate, enum news news) {
  struct contender *c = gate->owner;
  switch (news) {
    case NEWS_GRANTED:
      c->gate_open = true;
      if (c->state == CONTENDER_PARKED && !c->decided) contender_drive(c);
      break;
    case NEWS_REFUSED:
      c->rival = gate->rival;
      c->ahead = gate->ahead;
      contender_refuse(c, gate->verdict, gate->reason);
      break;
    case NEWS_LOST:
      gate_lost(c);
      break;
    case NEWS_REVOKED:
      break;
    case NEWS_REMOVED:
      c->gate_open = false;
      break;
    case NEWS_FORGOTTEN:
      c->gate_running = c->gate_open = false;
      if (c->state == CONTENDER_GONE)
        contender_reap(c);
      else if (c->state == CONTENDER_PARKED && !c->decided)
        contender_drive(c);
      break;
  }
}
