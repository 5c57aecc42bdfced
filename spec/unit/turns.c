/* Local turns: when a hold is passed on, and what it means for either turn.
 * The I/O thread's word on an acquisition is given by hand. */
#include "io/acquisition.h"
#include "io/clock.h"
#include "protocol/session.h"
#include "test.h"

ABOUT("Local turns");

enum { LOCAL_TURNS = 3, PAST = 1 };

static struct proof proof;
static uint64_t numbers;

static void tell(struct contender *c, enum news news) {
  (void)c;
  (void)news;
}

/* One that holds, in its first turn, which goes into `turn`. */
static struct acquisition *holder(struct turn *turn, int64_t max_hold,
                                  bool lose_on_suspend) {
  const struct contender_options options = {.kind = KIND_MUTEX,
                                            .local_turns = LOCAL_TURNS,
                                            .patient = true,
                                            .deadline = NEVER,
                                            .max_hold = max_hold,
                                            .lose_on_suspend = lose_on_suspend};
  struct acquisition *acquisition =
      acquisition_new(&proof, "", "/lock", "", 0, &options, tell);
  proof.state = SESSION_CONNECTED;
  proof.lease_until = NEVER;
  *turn = (struct turn){.number = ++numbers, .deadline = NEVER};
  acquisition->number = acquisition->current_turn = turn->number;
  acquisition->contender.node.czxid = 77;
  acquisition->contender.timer.due = max_hold;
  acquisition_grant(acquisition);
  return acquisition;
}

/* One that waits for a turn. */
static struct turn waiter(int64_t deadline) {
  return (struct turn){.number = ++numbers, .deadline = deadline};
}

static void ends(struct acquisition *acquisition, struct turn *turn) {
  struct turn next = waiter(NEVER);
  CHECK(!acquisition_pass_on(acquisition, turn, &next));
  CHECK(!acquisition_is_held(acquisition, next.index) ||
        next.index == turn->index);
  subject_drop(&acquisition->subject);
}

TEST("have one node and one token, and each knows whether it is its own") {
  struct turn first, second = waiter(NEVER);
  struct acquisition *acquisition = holder(&first, NEVER, false);
  CHECK(acquisition_pass_on(acquisition, &first, &second));
  CHECK(acquisition_is_held(acquisition, second.index));
  CHECK(!acquisition_is_held(acquisition, first.index));
  CHECK_INT(ACQUISITION_RELEASED, acquisition_state(acquisition, first.index));
  CHECK_INT(second.number, acquisition->current_turn);
  CHECK_INT(first.number, acquisition->number);
  subject_drop(&acquisition->subject);
}

TEST("do not begin where the hold may not stand, or is to end by itself") {
  enum {
    UNCONNECTED,
    NO_LEASE,
    ASKED_FOR,
    RELEASED,
    LOST,
    MAX_HOLD,
    SUSPEND,
    ONES
  };
  for (int why = 0; why < ONES; why++) {
    struct turn turn;
    struct acquisition *acquisition =
        holder(&turn, why == MAX_HOLD ? NEVER - 1 : NEVER, why == SUSPEND);
    if (why == UNCONNECTED) proof.state = SESSION_SUSPENDED;
    if (why == NO_LEASE) proof.lease_until = PAST;
    if (why == ASKED_FOR) acquisition_forbid_turns(acquisition);
    if (why == RELEASED)
      CHECK(acquisition_end_hold(acquisition, ACQUISITION_RELEASED));
    if (why == LOST)
      CHECK(acquisition_end_hold(acquisition,
                                 ACQUISITION_LOST + LOSS_NODE_DELETED));
    ends(acquisition, &turn);
  }
}

TEST("do not begin for one whose deadline is over") {
  struct turn turn, late = waiter(PAST);
  struct acquisition *acquisition = holder(&turn, NEVER, false);
  CHECK(!acquisition_pass_on(acquisition, &turn, &late));
  CHECK(acquisition_is_held(acquisition, turn.index));
  CHECK_INT(turn.number, acquisition->current_turn);
  subject_drop(&acquisition->subject);
}

TEST("see the loss of the node, and only the one that has it does") {
  struct turn first, second = waiter(NEVER);
  struct acquisition *acquisition = holder(&first, NEVER, false);
  CHECK(acquisition_pass_on(acquisition, &first, &second));
  CHECK(
      acquisition_end_hold(acquisition, ACQUISITION_LOST + LOSS_NODE_DELETED));
  CHECK(!acquisition_end_hold(acquisition,
                              ACQUISITION_LOST + LOSS_LEASE_EXPIRED));
  CHECK(!acquisition_is_held(acquisition, second.index));
  CHECK_INT(LOSS_NODE_DELETED, acquisition_loss(acquisition, second.index));
  CHECK_INT(LOSS_NONE, acquisition_loss(acquisition, first.index));
  CHECK_INT(ACQUISITION_RELEASED, acquisition_state(acquisition, first.index));
  subject_drop(&acquisition->subject);
}

TEST("see the lease") {
  struct turn first, second = waiter(NEVER);
  struct acquisition *acquisition = holder(&first, NEVER, false);
  CHECK(acquisition_pass_on(acquisition, &first, &second));
  proof.lease_until = PAST;
  CHECK(!acquisition_is_held(acquisition, second.index));
  CHECK_INT(LOSS_LEASE_EXPIRED, acquisition_overdue(acquisition, second.index));
  CHECK_INT(LOSS_NONE, acquisition_overdue(acquisition, first.index));
  subject_drop(&acquisition->subject);
}

TEST("are counted by how long they were waited for, in powers of two") {
  CHECK_INT(0, wait_bucket(0));
  CHECK_INT(0, wait_bucket(999));
  for (int i = 1; i < WAIT_BUCKETS; i++) {
    int64_t least = (INT64_C(1) << (i - 1)) * 1000;
    CHECK_INT(i, wait_bucket(least));
    if (i < WAIT_BUCKETS - 1) CHECK_INT(i, wait_bucket(2 * least - 1));
  }
  CHECK_INT(WAIT_BUCKETS - 1, wait_bucket(INT64_MAX));
}
