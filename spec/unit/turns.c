/* Local turns as the Lua thread takes them.  There is no I/O thread: what it would
 * be told is read here, and its word on a claim is given by hand. */
#include "io/turns.h"

#include <stdio.h>
#include <string.h>

#include "io/clock.h"
#include "io/messages.h"
#include "protocol/session.h"
#include "test.h"

ABOUT("Local turns");

enum { HANDOFFS = 3, CLAIMS_MAX = 10, PAST = 1 };

static struct proof proof;
static struct turns turns;
static struct claim *claims[CLAIMS_MAX];
static int count;
static int64_t called_at;
static char said[400]; /* the commands, with the numbers of their claims */

static void send(void *self, struct claim *claim, struct message *message,
                 int kind) {
  static const char *const names[] = {[COMMAND_ACQUIRE] = "acquire",
                                      [COMMAND_CANCEL] = "cancel",
                                      [COMMAND_RELEASE] = "release",
                                      [COMMAND_RELEASE_AND_TELL] =
                                          "release and tell",
                                      [COMMAND_ABANDON] = "abandon",
                                      [COMMAND_LOSE] = "lose",
                                      [COMMAND_LOOK_AROUND] = "look around"};
  size_t size = strlen(said);
  (void)self;
  (void)message;
  snprintf(said + size, sizeof said - size, "%s%s %d", size ? ", " : "",
           names[kind], (int)claim->number);
}

#define SENT(text) (CHECK_TEXT(text, said), said[0] = '\0')

static void call_at(void *self, int64_t due) {
  (void)self;
  called_at = due;
}

static void tell(struct contender *c, enum news news) {
  (void)c;
  (void)news;
}

/* What one wants; 0 is to wait for ever, and to share its node. */
struct wish {
  int nothing; /* (so that all the rest may be left out) */
  int more;    /* handoffs than HANDOFFS */
  bool apart, tries;
  int64_t deadline, max_hold;
};

static struct claim *begin(struct wish wish) {
  struct contender_options options = {
      .kind = KIND_MUTEX,
      .handoffs = wish.apart ? 0 : HANDOFFS + wish.more,
      .patient = !wish.tries,
      .deadline = wish.deadline ? wish.deadline : NEVER,
      .max_hold = wish.max_hold ? wish.max_hold : NEVER};
  struct claim *claim = claim_new(&proof, "", "/lock", "", 0, &options, tell);
  claims[count++] = claim;
  claim->number = (uint64_t)count;
  claim->asked = clock_now();
  turns_begin(&turns, claim);
  return claim;
}

#define BEGIN(...) begin((struct wish){.nothing = 0, __VA_ARGS__})

static void grant(struct claim *claim) {
  claim->contender.node.czxid = 77;
  claim->contender.timer.due = claim->contender.options.max_hold;
  claim_grant(claim);
}

/* The first, which holds, in a new session. */
static struct claim *holder(struct wish wish) {
  proof.state = SESSION_CONNECTED;
  proof.lease_until = NEVER;
  turns_init(&turns, &(struct turns_port){NULL, send, call_at}, &proof);
  struct claim *claim = begin(wish);
  SENT("acquire 1");
  grant(claim);
  return claim;
}

#define HOLDER(...) holder((struct wish){.nothing = 0, __VA_ARGS__})

static void end(void) {
  turns_free(&turns);
  while (count > 0) claim_drop(claims[--count]);
  called_at = NEVER;
  said[0] = '\0';
}

/* It releases, and passes the node on to `next`, which is told. */
static void passes(struct claim *claim, struct claim *next) {
  CHECK(turns_release(&turns, claim, false));
  struct claim *told = turns_take(&turns);
  CHECK(told == next && claim_is_held(next) && !claim_is_held(claim));
  CHECK_INT(77, next->token);
  CHECK_INT(claim->turn + 1, next->turn);
  claim_drop(told);
}

TEST("are taken in the order of arrival, without a command") {
  struct claim *a = HOLDER(), *b = BEGIN(), *c = BEGIN();
  passes(a, b);
  CHECK(!turns_take(&turns));
  SENT("");
  passes(b, c);
  SENT("look around 1"); /* for half of them are over */
  CHECK_INT(2, turns.taken);
  CHECK(turns_release(&turns, c, false));
  SENT("release 1");
  end();
}

/* So many turns after `last` has had its own: whose is the last one. */
static struct claim *turns_after(struct claim *last, int count) {
  while (count-- > 0) {
    struct claim *next = BEGIN();
    passes(last, next);
    last = next;
  }
  return last;
}

TEST("end after so many, and the next goes to the tail") {
  struct claim *last = turns_after(HOLDER(), HANDOFFS);
  BEGIN();
  SENT("look around 1");
  CHECK(turns_release(&turns, last, false));
  SENT("acquire 5, release 1");
  CHECK(!turns_take(&turns));
  end();
}

TEST("go on while no other session is in the queue, and so many after that") {
  struct claim *a = HOLDER();
  claim_be_alone(a);
  struct claim *last = turns_after(a, 4);
  claim_have_company(a);
  last = turns_after(last, HANDOFFS);
  BEGIN();
  SENT("look around 1");
  CHECK(turns_release(&turns, last, false));
  SENT("acquire 9, release 1");
  end();
}

TEST("are for the I/O thread to decide where they are not possible here") {
  enum { UNCONNECTED, NO_LEASE, ASKED_FOR, TOO_LATE, MAX_HOLD, ONES };
  for (int why = 0; why < ONES; why++) {
    struct claim *a = HOLDER(.max_hold = why == MAX_HOLD ? NEVER - 1 : 0);
    BEGIN(.deadline = why == TOO_LATE ? PAST : 0);
    SENT("");
    if (why == UNCONNECTED) proof.state = SESSION_SUSPENDED;
    if (why == NO_LEASE) proof.lease_until = PAST;
    if (why == ASKED_FOR) claim_ask_for(a);
    CHECK(turns_release(&turns, a, false));
    SENT("acquire 2, release 1");
    CHECK(!turns_take(&turns));
    end();
  }
}

TEST("are not for one of another kind, nor for a release that is confirmed") {
  struct claim *a = HOLDER();
  BEGIN(.more = 1);
  CHECK(turns_release(&turns, a, false));
  SENT("acquire 2, release 1");
  end();
  a = HOLDER();
  BEGIN();
  CHECK(turns_release(&turns, a, true));
  SENT("acquire 2, release and tell 1");
  end();
}

TEST("do not overtake one that was sent") {
  struct claim *a = HOLDER();
  BEGIN();
  BEGIN(.tries = true); /* and all before it */
  SENT("acquire 2, acquire 3");
  BEGIN();
  CHECK(turns_release(&turns, a, false));
  SENT("release 1");
  BEGIN(.max_hold = NEVER - 1);
  SENT("acquire 4, acquire 5");
  BEGIN();
  BEGIN(.apart = true);
  SENT("acquire 6, acquire 7");
  end();
}

TEST("of a node that is lost are not taken, and whoever has it sees the loss") {
  struct claim *a = HOLDER(), *b = BEGIN(), *c = BEGIN();
  passes(a, b);
  CHECK(claim_end_hold(a, CLAIM_LOST + LOSS_DELETED));
  CHECK(!claim_is_held(b));
  CHECK_INT(LOSS_DELETED, claim_loss(b));
  CHECK_INT(CLAIM_RELEASED, claim_state(a));
  CHECK_INT(b->number, a->speaks_for);
  CHECK(!turns_release(&turns, b, false));
  SENT("");
  turns_heard(&turns, a);
  SENT("acquire 3");
  grant(c);
  CHECK(turns_lose(&turns, c, LOSS_SILENCE));
  CHECK(!turns_lose(&turns, c, LOSS_MAX_HOLD));
  SENT("lose 3");
  end();
}

TEST("are waited for until the deadline, of which the I/O thread reminds us") {
  struct claim *a = HOLDER();
  BEGIN();
  BEGIN(.deadline = NEVER - 2);
  CHECK_INT(NEVER - 2, called_at);
  BEGIN(.deadline = PAST);
  CHECK_INT(PAST, called_at);
  BEGIN(.deadline = NEVER - 1);
  CHECK_INT(PAST, called_at);
  SENT("");
  turns_wake(&turns);
  SENT("acquire 2, acquire 3, acquire 4"); /* and those ahead of it */
  CHECK_INT(NEVER - 1, called_at);
  CHECK(turns_release(&turns, a, false));
  SENT("release 1");
  end();
}

TEST("are given up by one that waits, behind those ahead of it") {
  HOLDER();
  struct claim *b = BEGIN(), *c = BEGIN();
  BEGIN();
  struct claim *e = BEGIN();
  turns_abandon(&turns, c);
  CHECK_INT(CLAIM_RELEASED, claim_state(c));
  CHECK_INT(3, turns.waiting);
  SENT("");
  turns_cancel(&turns, e);
  SENT("acquire 2, acquire 4, acquire 5, cancel 5");
  turns_abandon(&turns, b);
  SENT("abandon 2");
  CHECK_INT(0, turns.waiting);
  end();
}

TEST("are not taken where there is no memory for a line") {
  struct claim *a = HOLDER();
  CHECK(turns_release(&turns, a, false));
  memory_refuse(1);
  memory_spare(1); /* the claim itself */
  struct claim *b = BEGIN();
  SENT("release 1, acquire 2");
  grant(b);
  CHECK(turns_release(&turns, b, false));
  SENT("release 2");
  end();
}

TEST("are waited for no more where a refusal concerns all") {
  for (int all = 0; all < 2; all++) {
    struct claim *a = HOLDER(), *b = BEGIN(), *c = BEGIN();
    CHECK(turns_release(&turns, a, true));
    SENT("acquire 2, release and tell 1");
    claim_refuse(b, all ? VERDICT_AUTH : VERDICT_TIMEOUT, 0);
    BEGIN();
    turns_heard(&turns, b);
    SENT(all ? "acquire 3, acquire 4" : "acquire 3");
    CHECK(claim_state(c) == CLAIM_WAITING);
    end();
  }
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
