/* Local turns: when a hold is passed on, and what it means for either turn.  The I/O
 * thread's word on a claim is given by hand. */
#include "io/claim.h"
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
static struct claim *holder(struct turn *turn, int64_t max_hold,
                            bool lose_on_suspend) {
  const struct contender_options options = {.kind = KIND_MUTEX,
                                            .local_turns = LOCAL_TURNS,
                                            .patient = true,
                                            .deadline = NEVER,
                                            .max_hold = max_hold,
                                            .lose_on_suspend = lose_on_suspend};
  struct claim *claim = claim_new(&proof, "", "/lock", "", 0, &options, tell);
  proof.state = SESSION_CONNECTED;
  proof.lease_until = NEVER;
  *turn = (struct turn){.number = ++numbers, .deadline = NEVER};
  claim->number = claim->speaks_for = turn->number;
  claim->contender.node.czxid = 77;
  claim->contender.timer.due = max_hold;
  claim_grant(claim);
  return claim;
}

/* One that waits for a turn. */
static struct turn waiter(int64_t deadline) {
  return (struct turn){.number = ++numbers, .deadline = deadline};
}

/* Passes it on so many times. */
static void pass_on(struct claim *claim, struct turn *turn, int times) {
  while (times-- > 0) {
    struct turn next = waiter(NEVER);
    CHECK(claim_pass_on(claim, turn, &next));
    CHECK_INT(turn->index + 1, next.index);
    *turn = next;
  }
}

static void ends(struct claim *claim, struct turn *turn) {
  struct turn next = waiter(NEVER);
  CHECK(!claim_pass_on(claim, turn, &next));
  CHECK(!claim_is_held(claim, next.index) || next.index == turn->index);
  claim_drop(claim);
}

TEST("have one node and one token, and each knows whether it is its own") {
  struct turn first, second = waiter(NEVER);
  struct claim *claim = holder(&first, NEVER, false);
  CHECK(claim_pass_on(claim, &first, &second));
  CHECK(claim_is_held(claim, second.index));
  CHECK(!claim_is_held(claim, first.index));
  CHECK_INT(CLAIM_RELEASED, claim_state(claim, first.index));
  CHECK_INT(second.number, claim->speaks_for);
  CHECK_INT(first.number, claim->number);
  claim_drop(claim);
}

TEST("end after so many") {
  struct turn turn;
  struct claim *claim = holder(&turn, NEVER, false);
  pass_on(claim, &turn, LOCAL_TURNS);
  ends(claim, &turn);
}

TEST("go on while no other client is in the queue, and so many after that") {
  struct turn turn;
  struct claim *claim = holder(&turn, NEVER, false);
  claim_be_alone(claim);
  pass_on(claim, &turn, 4 * LOCAL_TURNS);
  claim_have_company(claim);
  pass_on(claim, &turn, LOCAL_TURNS);
  ends(claim, &turn);
}

TEST("make the I/O thread look for other clients once half of them are over") {
  struct turn turn;
  struct claim *claim = holder(&turn, NEVER, false);
  pass_on(claim, &turn, 1);
  CHECK(!claim_looks_around(claim));
  pass_on(claim, &turn, 1);
  CHECK(claim_looks_around(claim));
  CHECK(!claim_looks_around(claim));
  ends(claim, &(struct turn){.index = LOCAL_TURNS});
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
    struct claim *claim =
        holder(&turn, why == MAX_HOLD ? NEVER - 1 : NEVER, why == SUSPEND);
    if (why == UNCONNECTED) proof.state = SESSION_SUSPENDED;
    if (why == NO_LEASE) proof.lease_until = PAST;
    if (why == ASKED_FOR) claim_ask_for(claim);
    if (why == RELEASED) CHECK(claim_end_hold(claim, CLAIM_RELEASED));
    if (why == LOST)
      CHECK(claim_end_hold(claim, CLAIM_LOST + LOSS_NODE_DELETED));
    ends(claim, &turn);
  }
}

TEST("do not begin for one whose deadline is over") {
  struct turn turn, late = waiter(PAST);
  struct claim *claim = holder(&turn, NEVER, false);
  CHECK(!claim_pass_on(claim, &turn, &late));
  CHECK(claim_is_held(claim, turn.index));
  CHECK_INT(turn.number, claim->speaks_for);
  claim_drop(claim);
}

TEST("see the loss of the node, and only the one that has it does") {
  struct turn first, second = waiter(NEVER);
  struct claim *claim = holder(&first, NEVER, false);
  CHECK(claim_pass_on(claim, &first, &second));
  CHECK(claim_end_hold(claim, CLAIM_LOST + LOSS_NODE_DELETED));
  CHECK(!claim_end_hold(claim, CLAIM_LOST + LOSS_LEASE_EXPIRED));
  CHECK(!claim_is_held(claim, second.index));
  CHECK_INT(LOSS_NODE_DELETED, claim_loss(claim, second.index));
  CHECK_INT(LOSS_NONE, claim_loss(claim, first.index));
  CHECK_INT(CLAIM_RELEASED, claim_state(claim, first.index));
  claim_drop(claim);
}

TEST("see the lease") {
  struct turn first, second = waiter(NEVER);
  struct claim *claim = holder(&first, NEVER, false);
  CHECK(claim_pass_on(claim, &first, &second));
  proof.lease_until = PAST;
  CHECK(!claim_is_held(claim, second.index));
  CHECK_INT(LOSS_LEASE_EXPIRED, claim_overdue(claim, second.index));
  CHECK_INT(LOSS_NONE, claim_overdue(claim, first.index));
  claim_drop(claim);
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
