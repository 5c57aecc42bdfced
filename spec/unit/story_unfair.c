/* The unfair lock: one node of one name, and whose it is. */
#include "memory.h"
#include "protocol/op.h"
#include "stage.h"

ABOUT("The protocol, for an unfair lock,");

static struct actor *watched_holder(struct stage *s) {
  struct actor *a = ACQUIRE(s, .lock = UNFAIR);
  made(s, 1);
  wants_watch(a);
  confirms(s, "get holder");
  HEARD(a, "granted");
  return a;
}

TEST("takes an unfair lock with one create, and gives it back after a look") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .lock = UNFAIR);
  SENT(s, "create holder");
  made(s, 1);
  HEARD(a, "granted");
  release(a);
  confirms(s, "get holder, remove holder");
  HEARD(a, "removed, forgotten");
  END(s);
}

TEST("waits for another's unfair node, and tries when it goes") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .lock = UNFAIR);
  answers(s, "create holder", REPLY_NODE_EXISTS);
  reads(s, "get holder", false, 900);
  HEARD(a, "");
  deleted(s, "holder");
  SENT(s, "create holder");
  made(s, 1);
  HEARD(a, "granted");
  END(s);
}

TEST("finds its own unfair node when the create's reply was lost") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .lock = UNFAIR);
  reconnects(s);
  SENT(s, "list");
  shows(s, "");
  reads(s, "get holder", true, 77);
  HEARD(a, "granted");
  CHECK_INT(77, token_of(a));
  END(s);
}

TEST("waits where the unfair node turns out to be another's") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .lock = UNFAIR);
  reconnects(s);
  shows(s, "");
  reads(s, "get holder", false, 77);
  HEARD(a, "");
  CHECK_TEXT("queued", state_of(a));
  END(s);
}

TEST("tries again where there is no unfair node after a lost reply") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .lock = UNFAIR);
  reconnects(s);
  shows(s, "");
  answers(s, "get holder", REPLY_NO_NODE);
  HEARD(a, "");
  SENT(s, "create holder");
  END(s);
}

TEST("does not delete an unfair node that was made anew by another") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .lock = UNFAIR);
  made(s, 1);
  HEARD(a, "granted");
  release(a);
  reads(s, "get holder", false, 900);
  HEARD(a, "removed, forgotten");
  SENT(s, "unwatch holder");
  END(s);
}

TEST("loses an unfair lock whose node somebody deletes") {
  struct stage *s = BEGIN();
  struct actor *a = watched_holder(s);
  deleted(s, "holder");
  HEARD(a, "lost: deleted, removed, forgotten");
  END(s);
}

TEST("loses an unfair lock whose node was deleted and made anew meanwhile") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .lock = UNFAIR);
  made(s, 1);
  HEARD(a, "granted");
  reconnects(s);
  reads(s, "get holder", false, 900);
  HEARD(a, "lost: deleted, removed, forgotten");
  SENT(s, "unwatch holder");
  END(s);
}

TEST("looks at an unfair node again after a reconnection, and when written") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .lock = UNFAIR, .within = 5000);
  others_say(s, "job 7");
  answers(s, "create holder", REPLY_NODE_EXISTS);
  confirms(s, "get holder");
  changed(s, "holder");
  confirms(s, "get holder");
  reconnects(s);
  confirms(s, "get holder");
  HEARD(a, "");
  passes(s, 5000);
  HEARD(a, "refused: timeout, removed, forgotten");
  CHECK_TEXT("job 7, who holds", rival_of(a));
  END(s);
}

TEST("looks at its unfair node behind a round when the lease does not stand") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .lock = UNFAIR);
  stops_for(s, 20000);
  made(s, 1); /* an old answer */
  HEARD(a, "");
  for (int i = 0; i < 20000 && !*sent(s); i++) passes(s, 1);
  CHECK(lease_of(s) > 0);
  reads(s, "get holder", true, 1001);
  HEARD(a, "granted");
  END(s);
}

TEST("looks once more before it deletes an unfair node without a lease") {
  struct stage *s = BEGIN();
  struct actor *a = watched_holder(s);
  stops_for(s, 9500);
  sees_silence(a);
  HEARD(a, "lost: silence");
  confirms(s, "get holder");
  answers(s, "remove holder", THROTTLED);
  rounds_by_hand(s, true);
  stops_for(s, 9500);
  passes(s, 1); /* it is tried again */
  confirms(s, "get holder");
  answers_round(s);
  confirms(s, "remove holder");
  HEARD(a, "removed, forgotten");
  END(s);
}

TEST("spares what has taken its unfair node's name when the lease was over") {
  struct stage *s = BEGIN();
  struct actor *a = watched_holder(s);
  stops_for(s, 9500);
  sees_silence(a);
  reads(s, "get holder", false, 900);
  HEARD(a, "lost: silence, removed, forgotten");
  SENT(s, "unwatch holder");
  END(s);
}

TEST("begins again where its unfair node became another's while it waited") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .lock = UNFAIR);
  stops_for(s, 20000);
  made(s, 1);
  for (int i = 0; i < 20000 && !*sent(s); i++) passes(s, 1);
  reads(s, "get holder", false, 900);
  HEARD(a, "");
  SENT(s, "create holder, unwatch holder");
  END(s);
}

TEST("looks at the unfair node later when there was no memory for it") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .lock = UNFAIR);
  memory_refuse(1);
  answers(s, "create holder", REPLY_NODE_EXISTS);
  memory_refuse(0);
  SENT(s, "");
  passes(s, 100);
  reads(s, "get holder", false, 900);
  HEARD(a, "");
  END(s);
}

TEST("lets one of a session at a time want an unfair node") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .lock = UNFAIR, .data = "we");
  struct actor *b = ACQUIRE(s, .lock = UNFAIR, .within = 1000);
  made(s, 1);
  HEARD(a, "granted");
  SENT(s, "");
  passes(s, 1000);
  HEARD(b, "refused: timeout, removed, forgotten");
  CHECK_TEXT("we, who holds", rival_of(b));
  END(s);
}

TEST("finds nothing to delete where its unfair node is gone") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .lock = UNFAIR);
  made(s, 1);
  HEARD(a, "granted");
  release(a);
  answers(s, "get holder", REPLY_NO_NODE);
  HEARD(a, "removed, forgotten");
  SENT(s, "");
  END(s);
}

TEST("deletes an unfair node that turns out to be ours when it gives up") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .lock = UNFAIR);
  cancel(a);
  HEARD(a, "refused: cancelled");
  reconnects(s);
  shows(s, "");
  reads(s, "get holder", true, 77);
  confirms(s, "remove holder");
  HEARD(a, "removed, forgotten");
  END(s);
}

TEST("looks before it repeats an unfair delete whose reply was lost") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .lock = UNFAIR);
  made(s, 1);
  release(a);
  confirms(s, "get holder");
  SENT(s, "remove holder");
  reconnects(s);
  shows(s, "");
  reads(s, "get holder", true, 1001); /* still there */
  confirms(s, "remove holder");
  HEARD(a, "granted, removed, forgotten");
  END(s);
}

TEST("tells one that does not wait that an unfair lock is taken") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .lock = UNFAIR, .tries = true);
  answers(s, "create holder", REPLY_NODE_EXISTS);
  HEARD(a, "refused: busy, removed, forgotten");
  SENT(s, "");
  END(s);
}

TEST("gives an unfair node back that another of its session watches") {
  struct stage *s = BEGIN();
  struct actor *a = HOLDER(s, 1, .lock = UNFAIR);
  struct actor *waiter = AWAIT(s, .path = "/lock/holder");
  confirms(s, "get holder");
  release(a);
  confirms(s, "remove holder");
  HEARD(a, "removed, forgotten");
  deleted(s, "holder");
  HEARD(waiter, "met");
  END(s);
}

/* One whose create's answer was lost looks for its node when the watch is armed for
 * another. */
static struct actor *looks_last(struct stage *s, struct wish wish) {
  wish.lock = UNFAIR;
  struct actor *a = acquire(s, wish);
  AWAIT(s, .path = "/lock/holder");
  reconnects(s);
  answers(s, "list", THROTTLED);
  reads(s, "get holder", true, 77);
  passes(s, 100);
  shows(s, "");
  return a;
}

TEST("sees that an unfair node is its own though its session has it watched") {
  struct stage *s = BEGIN();
  struct actor *a = looks_last(s, (struct wish){0});
  HEARD(a, "");
  reads(s, "get holder", true, 77);
  HEARD(a, "granted");
  CHECK_INT(77, token_of(a));
  END(s);
}

TEST(
    "deletes its unfair node as it gives up though its session has it "
    "watched") {
  struct stage *s = BEGIN();
  struct actor *a = looks_last(s, (struct wish){.within = 50});
  HEARD(a, "refused: timeout");
  shows(s, "");
  reads(s, "get holder", true, 77);
  confirms(s, "remove holder");
  HEARD(a, "removed, forgotten");
  END(s);
}
