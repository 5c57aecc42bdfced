/* The semaphore, by the protocol of Curator's InterProcessSemaphoreV2. An inner
 * mutex lets in one contender at a time. That contender creates a permit's node
 * and waits until there are at most `permits` such nodes. Only the holder of
 * the inner mutex adds a permit, so their number can only fall meanwhile.
 *
 * So a permit has two contenders. The first is in the queue of its path, like
 * any contender. The second, the gate, is in the queue of inner mutexes. The
 * permit creates its node when its gate holds the inner mutex. The gate ends
 * when the permit is granted or refused. The gate's events only change its
 * state. At the end of the step, `settle` acts on the states of both
 * contenders. */
#include <assert.h>
#include <string.h>

#include "acquire_fsm.h"
#include "queue.h"
#include "queued.h"

static void copy_blocker_of_gate(struct contender *c) {
  c->blocker = c->gate->blocker;
  c->view.ahead = c->gate->view.ahead;
  c->view.phase =
      c->gate->view.phase == VIEW_AT_LEAST ? VIEW_AT_LEAST : VIEW_PLAIN;
}

static void on_gate_news(struct contender *gate, enum news news) {
  struct contender *c = gate->owner;
  if (news == NEWS_REVOKED) return;
  if (news == NEWS_UNDELETABLE) {
    c->notify(c, NEWS_UNDELETABLE);
    return;
  }
  if (news == NEWS_REFUSED)
    copy_blocker_of_gate(c); /* the gate's memory is still valid */
  if (news == NEWS_FORGOTTEN) c->has_gate = false;
  contender_settle_later(c);
}

/* Returns whether the gate holds the inner mutex. */
static bool is_inside(const struct contender *c) {
  return c->has_gate && c->gate->state == CONTENDER_HELD;
}

/* Returns the queue of the inner mutexes, in the directory beside the
 * permits. */
static struct queue *queue_of_gates(struct contender *c) {
  const struct directory *d = &c->queue->directory;
  const char *permits = directory_path(d);
  size_t length = directory_length(d) - strlen(PERMITS);
  char *path = c->path;          /* `c->path` is not in use yet */
  memcpy(path, permits, length); /* NOLINT: the next line terminates it */
  memcpy(path + length, LOCKS, sizeof LOCKS);
  return c->queue->all->queue_of(c->queue->all, path);
}

static void begin_gate(struct contender *c) {
  struct contender_options options = {.kind = KIND_GATE,
                                      .deadline = NEVER,
                                      .max_hold = NEVER,
                                      .patient = c->options.patient,
                                      .data = c->options.data,
                                      .size = c->options.size};
  struct queue *queue = queue_of_gates(c);
  if (!queue) {
    pipeline_retry(contender_pipeline(c));
    return;
  }
  c->has_gate = true;
  contender_init(c->gate, &options, on_gate_news, c);
  acquire_fsm_begin(c->gate, queue, &queued_wait_ops);
}

/* Creates the permit's node if the gate holds the inner mutex. Otherwise begins
 * the gate. */
static void enter(struct contender *c) {
  if (is_inside(c))
    acquire_fsm_enter(c);
  else if (!c->has_gate)
    begin_gate(c);
}

/* Ends the gate of a permit that was granted or refused, so that the next
 * contender can enter. */
static void leave_gate(struct contender *c) {
  if (!c->has_gate) return;
  if (c->gate->state == CONTENDER_HELD)
    acquire_fsm_release(c->gate);
  else
    acquire_fsm_refuse(c->gate, REFUSED_CANCELLED, 0);
}

static void refuse_as_gate(struct contender *c) {
  c->denial = c->gate->denial;
  c->denial.by_gate = true;
  acquire_fsm_refuse(c, c->gate->refusal_code, c->gate->reason);
}

/* Acts on the states of the permit and its gate. */
static void settle(struct contender *c) {
  bool inside = is_inside(c);
  if (c->decision != DECISION_NONE)
    leave_gate(c);
  else if (c->gate->decision == DECISION_REFUSED)
    refuse_as_gate(c);
  else if (c->state == CONTENDER_PARKED && (inside || !c->has_gate))
    queue_admit(c);
  else if (!inside && c->state != CONTENDER_PARKED &&
           c->state != CONTENDER_LEAVING)
    /* The gate has lost the inner mutex, so another contender may hold the
     * mutex now. Begin again. */
    acquire_fsm_leave(c);
  acquire_fsm_settle(c);
}

static void store_blocker(struct contender *c) {
  if (!c->has_gate || c->gate->decision != DECISION_NONE) {
    queued_store_blocker(c);
    return;
  }
  queued_store_blocker(c->gate);
  copy_blocker_of_gate(c);
}

const struct wait_ops semaphore_wait_ops = {.enter = enter,
                                            .on_sent = queued_on_sent,
                                            .on_created = queued_on_created,
                                            .check = queued_check,
                                            .check_again = queued_check_again,
                                            .on_listed = queue_position_listed,
                                            .on_news = queued_on_news,
                                            .store_blocker = store_blocker,
                                            .settle = settle};
