/* The protocol's story, told in scenes. */
#include <stdio.h>
#include <string.h>

#include "memory.h"
#include "protocol/op.h"
#include "stage.h"

ABOUT("The protocol");

/* Holds, with node `number`. */
static struct actor *holder(struct stage *s, struct wish wish, int number) {
  char own[20];
  struct actor *a = acquire(s, wish);
  made(s, number);
  sprintf(own, "%d", number);
  shows(s, own);
  HEARD(a, "granted");
  SENT(s, "");
  return a;
}

#define HOLDER(s, number, ...) \
  (HERE, holder(s, (struct wish){.nothing = 0, __VA_ARGS__}, number))

/* Waits with node 2 for somebody else's node 1, and both are watched. */
static struct actor *waiter(struct stage *s, struct wish wish) {
  struct actor *a = acquire(s, wish);
  made(s, 2);
  shows(s, "1 2");
  confirms(s, "get 2, get 1");
  HEARD(a, "");
  CHECK_TEXT("queued", state_of(a));
  SENT(s, "");
  return a;
}

#define WAITER(s, ...) \
  (HERE, waiter(s, (struct wish){.nothing = 0, __VA_ARGS__}))

/* How long after one round the next one is sent, in milliseconds; all are
 * answered at once. */
static int pace(struct stage *s) {
  int waited = 0;
  rounds_by_hand(s, true);
  for (int i = 0; i < 10; i++) {
    for (waited = 0; !*sent(s); waited++) passes(s, 1);
    answers_round(s);
  }
  return waited;
}

/* ---- One after the other --------------------------------------------------- */

TEST("grants a free lock after one create and one list") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s);
  SENT(s, "create lock, list");
  made(s, 1);
  HEARD(a, "");
  shows(s, "1");
  HEARD(a, "granted");
  CHECK_INT(1001, token_of(a));
  SENT(s, "");
  release(a);
  HEARD(a, "");
  confirms(s, "remove 1");
  HEARD(a, "removed, forgotten");
  SENT(s, "");
  END(s);
}

TEST("hands over without a request: the predecessor's deletion grants") {
  struct stage *s = BEGIN();
  struct actor *a = WAITER(s);
  deleted(s, "1");
  HEARD(a, "granted");
  SENT(s, "");
  CHECK_INT(1, counted(s, "handoffs"));
  END(s);
}

TEST("looks early: when the one before the predecessor goes, it lists") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s);
  made(s, 5);
  shows(s, "1 2 3 5");
  confirms(s, "get 5, get 3, get 2");
  deleted(s, "2");
  SENT(s, "list");
  shows(s, "1 3 5");
  confirms(s, "get 1");
  deleted(s, "1"); /* it was the only one before: no list is needed */
  SENT(s, "");
  deleted(s, "3");
  HEARD(a, "granted");
  SENT(s, "");
  END(s);
}

TEST("needs no list at all for a chain of three") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s);
  made(s, 3);
  shows(s, "1 2 3");
  confirms(s, "get 3, get 2, get 1");
  deleted(s, "1");
  HEARD(a, "");
  deleted(s, "2");
  HEARD(a, "granted");
  SENT(s, "");
  END(s);
}

TEST("looks again when a predecessor gives up that others stand before") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s);
  made(s, 4);
  shows(s, "1 2 3 4");
  confirms(s, "get 4, get 3, get 2");
  deleted(s, "3");
  HEARD(a, "");
  SENT(s, "list");
  shows(s, "1 2 4");
  HEARD(a, "");
  confirms(s, "get 1"); /* 2 is watched already */
  SENT(s, "");
  END(s);
}

TEST("watches the directory, if it is told to, and lists at each change") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .watches_parent = true);
  made(s, 3);
  shows(s, "1 2 3");
  SENT(s, "get 3, list and watch");
  confirms(s, "get 3");
  shows(s, "1 2 3");
  children_changed(s, "/lock");
  SENT(s, "list and watch");
  shows(s, "2 3");
  HEARD(a, "");
  children_changed(s, "/lock");
  shows(s, "3");
  HEARD(a, "granted");
  END(s);
}

TEST("looks again every so often, if it is told to") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .polls = 100, .within = 250);
  made(s, 2);
  shows(s, "1 2");
  confirms(s, "get 2");
  passes(s, 99);
  SENT(s, "");
  passes(s, 1);
  SENT(s, "list");
  shows(s, "1 2");
  passes(s, 100);
  shows(s, "1 2");
  passes(s, 50);
  HEARD(a, "refused: timeout");
  END(s);
}

TEST("keeps everybody's place when one in the middle leaves") {
  struct stage *s = BEGIN();
  struct actor *middle = WAITER(s);
  struct actor *last = ACQUIRE(s);
  made(s, 3);
  shows(s, "1 2 3");
  confirms(s, "get 3"); /* 1 and 2 are watched for both */
  SENT(s, "");
  cancel(middle);
  HEARD(middle, "refused: cancelled");
  confirms(s, "remove 2");
  deleted(s, "2");
  HEARD(middle, "removed, forgotten");
  HEARD(last, "");
  SENT(s, "list");
  shows(s, "1 3");
  deleted(s, "1");
  HEARD(last, "granted");
  END(s);
}

TEST("serves all waiters of a path with one list and shared watches") {
  struct stage *s = BEGIN();
  struct actor *all[5];
  together(s);
  for (int i = 0; i < 5; i++) all[i] = ACQUIRE(s);
  apart(s);
  SENT(s,
       "create lock, create lock, create lock, create lock, create lock, "
       "list");
  for (int i = 0; i < 5; i++) made(s, 2 + i);
  shows(s, "1 2 3 4 5 6");
  SENT(s, "get 2, get 1, get 3, get 4, get 5, get 6");
  for (int i = 0; i < 5; i++) HEARD(all[i], "");
  END(s);
}

TEST("does not grant by an event other than the predecessor's deletion") {
  struct stage *s = BEGIN();
  struct actor *a = WAITER(s);
  changed(s, "1"); /* somebody wrote its data */
  HEARD(a, "");
  SENT(s, "get 1, list");
  confirms(s, "get 1");
  shows(s, "1 2");
  HEARD(a, "");
  deleted(s, "1");
  HEARD(a, "granted");
  END(s);
}

TEST("does not grant by a deletion before its own node's watch is confirmed") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s);
  made(s, 2);
  shows(s, "1 2");
  SENT(s, "get 2, get 1");
  deleted(s, "1"); /* is our node still there? */
  HEARD(a, "");
  confirms(s, "get 2");
  answers(s, "get 1", REPLY_NO_NODE);
  SENT(s, "list");
  HEARD(a, "");
  shows(s, "2");
  HEARD(a, "granted");
  END(s);
}

TEST("finds the predecessor gone when it wants to watch it") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s);
  made(s, 2);
  shows(s, "1 2");
  confirms(s, "get 2");
  answers(s, "get 1", REPLY_NO_NODE);
  HEARD(a, "granted"); /* our own watch was confirmed before */
  SENT(s, "");
  END(s);
}

TEST("watches with exists what its ACL forbids to read") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s);
  made(s, 2);
  shows(s, "1 2");
  confirms(s, "get 2");
  answers(s, "get 1", REPLY_NO_AUTH);
  confirms(s, "exists 1");
  deleted(s, "1");
  HEARD(a, "granted");
  END(s);
}

TEST("ignores children that are no contenders") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s);
  made(s, 3);
  shows(s, "1r 2w 3"); /* (readers and writers: none of a mutex) */
  HEARD(a, "granted");
  END(s);
}

TEST("begins again at the tail when somebody deletes a waiter's node") {
  struct stage *s = BEGIN();
  struct actor *a = WAITER(s);
  deleted(s, "2");
  HEARD(a, "");
  SENT(s, "unwatch 1, create lock, list");
  END(s);
}

TEST("loses a hold whose node somebody deletes") {
  struct stage *s = BEGIN();
  struct actor *a = WAITER(s);
  deleted(s, "1");
  HEARD(a, "granted");
  deleted(s, "2");
  HEARD(a, "lost: deleted, removed, forgotten");
  SENT(s, "");
  END(s);
}

TEST("watches a holder's own node after a sixth of the timeout") {
  struct stage *s = BEGIN();
  struct actor *a = HOLDER(s, 1);
  passes(s, 1600);
  SENT(s, "");
  passes(s, 100);
  confirms(s, "get 1");
  deleted(s, "1");
  HEARD(a, "lost: deleted, removed, forgotten");
  END(s);
}

TEST("watches a holder's own node at once if its owner wants it") {
  struct stage *s = BEGIN();
  struct actor *a = HOLDER(s, 1);
  wants_watch(a);
  confirms(s, "get 1");
  wants_watch(a);
  SENT(s, "");
  deleted(s, "1");
  HEARD(a, "lost: deleted, removed, forgotten");
  END(s);
}

TEST("believes an owner that has seen its node gone, and deletes it") {
  struct stage *s = BEGIN();
  struct actor *a = HOLDER(s, 1);
  sees_deletion(a);
  HEARD(a, "lost: deleted");
  answers(s, "remove 1", REPLY_NO_NODE);
  HEARD(a, "removed, forgotten");
  END(s);
}

/* ---- Replies that are lost ------------------------------------------------- */

TEST("finds its node in the list when a create's reply was lost") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s);
  made_unheard(s, 1);
  disconnects(s);
  CHECK_TEXT("finding", state_of(a));
  connects(s);
  SENT(s, "list");
  shows(s, "1");
  HEARD(a, ""); /* whose session is it of? */
  confirms(s, "get 1");
  HEARD(a, "granted");
  CHECK_INT(1001, token_of(a));
  END(s);
}

TEST("makes another node, of another name, if that create made none") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s);
  disconnects(s);
  connects(s);
  shows(s, "");
  SENT(s, "create lock, list");
  made(s, 2);
  shows(s, "2");
  HEARD(a, "granted");
  END(s);
}

TEST("deletes a node that turns up late, which nobody of ours knows") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s);
  made_unheard(s, 1);
  disconnects(s);
  connects(s);
  shows(s, "");
  made(s, 2);
  shows(s, "1 2"); /* the server has applied it after all */
  SENT(s, "remove 1, get 2, get 1");
  HEARD(a, "");
  CHECK_INT(1, counted(s, "strays"));
  confirms(s, "remove 1, get 2");
  answers(s, "get 1", REPLY_NO_NODE);
  HEARD(a, "granted");
  END(s);
}

TEST("begins again when the node it finds is of another session") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s);
  made_unheard(s, 1);
  disconnects(s);
  connects(s);
  shows(s, "1");
  reads(s, "get 1", false, 1001);
  HEARD(a, "");
  SENT(s, "create lock, unwatch 1, list");
  END(s);
}

TEST("deletes again when a delete's reply was lost") {
  struct stage *s = BEGIN();
  struct actor *a = HOLDER(s, 1);
  release(a);
  SENT(s, "remove 1");
  disconnects(s);
  HEARD(a, "");
  CHECK_INT(1, counted(s, "pending_releases"));
  connects(s);
  answers(s, "remove 1", REPLY_NO_NODE);
  HEARD(a, "removed, forgotten");
  CHECK_INT(0, counted(s, "pending_releases"));
  END(s);
}

TEST("deletes again, after a while, when a delete is refused") {
  struct stage *s = BEGIN();
  struct actor *a = HOLDER(s, 1);
  release(a);
  answers(s, "remove 1", REPLY_NO_AUTH);
  passes(s, 190);
  SENT(s, "");
  passes(s, 20);
  answers(s, "remove 1", REPLY_NO_AUTH);
  passes(s, 390);
  SENT(s, "");
  passes(s, 20);
  confirms(s, "remove 1");
  HEARD(a, "removed, forgotten");
  END(s);
}

TEST("looks for the node of one who gave up before its create was answered") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s);
  cancel(a);
  HEARD(a, "refused: cancelled");
  CHECK_TEXT("leaving", state_of(a));
  made_unheard(s, 1);
  disconnects(s);
  connects(s);
  shows(s, "1");
  confirms(s, "remove 1");
  HEARD(a, "removed, forgotten");
  END(s);
}

TEST("deletes the node of one who gave up as soon as its name is known") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s);
  cancel(a);
  SENT(s, "create lock, list");
  made(s, 1);
  SENT(s, "remove 1");
  shows(s, "1");
  HEARD(a, "refused: cancelled");
  confirms(s, "remove 1");
  HEARD(a, "removed, forgotten");
  END(s);
}

TEST("asks for another list when there was no memory for one") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s);
  made(s, 1);
  shows_without_memory(s);
  HEARD(a, "");
  passes(s, 100);
  SENT(s, "list");
  shows(s, "1");
  HEARD(a, "granted");
  END(s);
}

TEST("tries again what could not be sent, 0.1 s later") {
  struct stage *s = BEGIN();
  cannot_send(s, true);
  struct actor *a = ACQUIRE(s);
  SENT(s, "");
  cannot_send(s, false);
  passes(s, 99);
  SENT(s, "");
  passes(s, 1);
  SENT(s, "create lock, list");
  made(s, 1);
  shows(s, "1");
  HEARD(a, "granted");
  END(s);
}

TEST("lists again, 0.1 s later, when there was no memory for a watch") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s);
  made(s, 2);
  shows_then_no_memory(s, "1 2");
  HEARD(a, "");
  passes(s, 100);
  SENT(s, "list");
  shows(s, "1 2");
  confirms(s, "get 2, get 1");
  deleted(s, "1");
  HEARD(a, "granted");
  END(s);
}

/* ---- Connections ----------------------------------------------------------- */

TEST("begins a reconnection with a round, and believes nothing older") {
  struct stage *s = BEGIN();
  struct actor *a = WAITER(s);
  disconnects(s);
  rounds_by_hand(s, true);
  connects(s);
  SENT(s, "round, list");
  confirms(s, "round");
  HEARD(a, "");
  deleted(s, "1"); /* missed events come in any order */
  HEARD(a, "");
  shows(s, "2");
  HEARD(a, "granted");
  END(s);
}

TEST("arms every watch again after a reconnection, with one list") {
  struct stage *s = BEGIN();
  struct actor *a = WAITER(s);
  disconnects(s);
  CHECK_TEXT("queued", state_of(a));
  connects(s);
  shows(s, "1 2");
  confirms(s, "get 2, get 1");
  deleted(s, "1");
  HEARD(a, "granted");
  SENT(s, "");
  END(s);
}

TEST("keeps a hold through a reconnection, and looks at its node") {
  struct stage *s = BEGIN();
  struct actor *a = HOLDER(s, 1);
  disconnects(s);
  SHOWN(s, "suspended");
  passes(s, 1000);
  connects(s);
  SHOWN(s, "connected");
  confirms(s, "get 1");
  HEARD(a, "");
  END(s);
}

TEST("finds after a reconnection that its hold's node is gone") {
  struct stage *s = BEGIN();
  struct actor *a = HOLDER(s, 1);
  disconnects(s);
  connects(s);
  answers(s, "get 1", REPLY_NO_NODE);
  HEARD(a, "lost: deleted, removed, forgotten");
  END(s);
}

TEST("ignores an answer that comes after its connection") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s);
  disconnects(s);
  connects(s);
  late_answer(s, 1, REPLY_NO_AUTH);
  HEARD(a, "");
  CHECK_TEXT("finding", state_of(a));
  END(s);
}

TEST("counts a lease from the beginning of the attempt to connect") {
  struct stage *s = BEGIN(.apart = true);
  connects_since(s, 2000);
  struct actor *a = ACQUIRE(s);
  made(s, 1);
  CHECK_INT(7500, lease_of(s));
  shows(s, "1");
  HEARD(a, "granted");
  END(s);
}

TEST("cuts the lease to what an attempt that is lost may have been granted") {
  struct stage *s = BEGIN(.least = 4000);
  struct actor *a = HOLDER(s, 1);
  CHECK_INT(9500, lease_of(s));
  disconnects(s);
  attempts(s);
  CHECK_INT(3800, lease_of(s));
  passes(s, 3800);
  HEARD(a, "lost: silence");
  END(s);
}

TEST("takes the least timeout for its own, not the last") {
  struct stage *s = BEGIN();
  disconnects(s);
  connects_with(s, 5000);
  disconnects(s);
  connects_with(s, 10000);
  CHECK_INT(1500, pace(s));
  END(s);
}

TEST("loses at once what shall not outlive a connection") {
  struct stage *s = BEGIN();
  struct actor *a = HOLDER(s, 1, .loses_soon = true);
  disconnects(s);
  HEARD(a, "lost: suspended");
  connects(s);
  confirms(s, "remove 1");
  HEARD(a, "removed, forgotten");
  END(s);
}

TEST("refuses who does not wait when there is no connection") {
  struct stage *s = BEGIN();
  struct actor *before = ACQUIRE(s, .tries = true);
  disconnects(s);
  HEARD(before, "refused: disconnected");
  struct actor *after = ACQUIRE(s, .tries = true);
  HEARD(after, "refused: disconnected, removed, forgotten");
  END(s);
}

TEST("lets one that waits wait for the first connection") {
  struct stage *s = BEGIN(.apart = true);
  struct actor *a = ACQUIRE(s), *b = ACQUIRE(s, .tries = true);
  HEARD(a, "");
  HEARD(b, "");
  connects(s);
  SENT(s, "create lock, create lock, list");
  END(s);
}

TEST("loses everything at an expiry; who waits begins again") {
  struct stage *s = BEGIN();
  struct actor *holds = HOLDER(s, 1, .path = "/other");
  struct actor *waits = WAITER(s);
  struct actor *leaves = HOLDER(s, 3, .path = "/third");
  release(leaves);
  disconnects(s);
  passes(s, 9500); /* the lease is over */
  HEARD(holds, "lost: silence");
  expires(s);
  SHOWN(s, "suspended, expired");
  HEARD(holds, "removed, forgotten");
  HEARD(leaves, "removed, forgotten");
  HEARD(waits, "");
  passes(s, 1);
  CHECK(wants_session(s));
  connects_anew(s);
  SENT(s, "create lock, list");
  made(s, 5);
  shows(s, "5");
  HEARD(waits, "granted");
  CHECK_INT(1, counted(s, "expiries"));
  END(s);
}

TEST("says of a session that ends while its lease stands that it was closed") {
  struct stage *s = BEGIN();
  struct actor *a = HOLDER(s, 1);
  expires(s);
  HEARD(a, "lost: closed, removed, forgotten");
  END(s);
}

TEST("takes another session's id for the end of its own") {
  struct stage *s = BEGIN();
  struct actor *a = HOLDER(s, 1), *b = ACQUIRE(s);
  made(s, 2);
  disconnects(s);
  connects_anew(s);
  HEARD(a, "lost: closed, removed, forgotten");
  HEARD(b, "");
  SENT(s, "create lock, list");
  END(s);
}

TEST("asks for new sessions at a pace that slows down") {
  struct stage *s = BEGIN();
  int asked = 0;
  for (int i = 0; i < 8; i++) {
    expires(s);
    passes(s, 1);
    asked += wants_session(s);
  }
  CHECK_INT(1, asked);
  passes(s, 2000);
  CHECK(wants_session(s));
  END(s);
}

TEST("tells who waits, and who comes, that credentials are refused") {
  struct stage *s = BEGIN();
  struct actor *holds = HOLDER(s, 1, .path = "/other");
  struct actor *waits = WAITER(s);
  refuses_credentials(s);
  HEARD(waits, "refused: auth");
  HEARD(holds, "");
  struct actor *comes = ACQUIRE(s);
  HEARD(comes, "refused: auth, removed, forgotten");
  CHECK_INT(REASON_CREDENTIALS, reason_of(comes));
  connects(s);
  struct actor *later = ACQUIRE(s);
  HEARD(later, "");
  END(s);
}

TEST("gives a session up that only its own attempts keep alive") {
  struct stage *s = BEGIN();
  struct actor *a = HOLDER(s, 1);
  release(a);
  disconnects(s);
  passes(s, 14999);
  CHECK(!is_beyond_help(s));
  passes(s, 1);
  CHECK(is_beyond_help(s));
  END(s);
}

TEST("does not give a session up that has nothing to delete") {
  struct stage *s = BEGIN();
  struct actor *a = WAITER(s);
  disconnects(s);
  passes(s, 60000);
  CHECK(!is_beyond_help(s));
  HEARD(a, "");
  END(s);
}

/* ---- The lease and the clock ------------------------------------------------ */

TEST("does not grant by old answers after a pause: it looks again") {
  struct stage *s = BEGIN();
  struct actor *a = WAITER(s);
  stops_for(s, 20000);
  deleted(s, "1"); /* it lay in the socket */
  HEARD(a, "");
  CHECK(lease_of(s) < 0);
  for (int i = 0; i < 10000 && !*sent(s); i++) passes(s, 1);
  CHECK(lease_of(s) > 0); /* so our session lives: a list may be asked for */
  HEARD(a, "");
  shows(s, "2");
  HEARD(a, "granted");
  SENT(s, "");
  END(s);
}

TEST("waits for a list once the lease stands again, whatever else happens") {
  struct stage *s = BEGIN();
  struct actor *a = WAITER(s);
  rounds_by_hand(s, true);
  stops_for(s, 20000);
  deleted(s, "1");
  for (int i = 0; i < 100000 && lease_of(s) < 0; i++) {
    passes(s, 1);
    if (strcmp(sent(s), "round") != 0) continue;
    cannot_send(s, true); /* not the list, this time */
    answers_round(s);
    cannot_send(s, false);
  }
  CHECK(lease_of(s) > 0);
  passes(s, 100);
  SENT(s, "list");
  HEARD(a, "");
  END(s);
}

TEST("loses a hold in silence when its lease is over, and not before") {
  struct stage *s = BEGIN();
  struct actor *a = HOLDER(s, 1);
  rounds_by_hand(s, true);
  int lease = lease_of(s);
  passes(s, lease - 1);
  HEARD(a, "");
  SHOWN(s, "");
  passes(s, 1);
  HEARD(a, "lost: silence");
  SHOWN(s, "suspended");
  END(s);
}

TEST("shows a session connected again when it is heard after its silence") {
  struct stage *s = BEGIN();
  struct actor *a = HOLDER(s, 1);
  rounds_by_hand(s, true);
  passes(s, 9500);
  SHOWN(s, "suspended");
  HEARD(a, "lost: silence");
  SENT(s, "round, ping, get 1, remove 1");
  confirms(s, "round"); /* an old one: the lease does not stand by it */
  SHOWN(s, "");
  confirms(s, "ping, get 1");
  deleted(s, "1");
  confirms(s, "remove 1");
  rounds_by_hand(s, false);
  passes(s, 20000);
  SHOWN(s, "connected"); /* once */
  HEARD(a, "removed, forgotten");
  END(s);
}

TEST("loses what was lost once, whatever was answered meanwhile") {
  struct stage *s = BEGIN();
  struct actor *a = HOLDER(s, 1);
  stops_for(s, 20000);
  passes(s, 1);
  HEARD(a, "lost: silence");
  confirms(s, "remove 1");
  HEARD(a, "removed, forgotten");
  END(s);
}

TEST("believes an owner whose clock has seen the lease over before it") {
  struct stage *s = BEGIN();
  struct actor *a = HOLDER(s, 1);
  stops_for(s, 9500);
  sees_silence(a);
  HEARD(a, "lost: silence");
  SHOWN(s, "suspended");
  SENT(s, "remove 1");
  END(s);
}

TEST("shows a silence once, though the connection breaks after it") {
  struct stage *s = BEGIN();
  struct actor *a = HOLDER(s, 1);
  rounds_by_hand(s, true);
  passes(s, 9500);
  SHOWN(s, "suspended");
  disconnects(s);
  SHOWN(s, "");
  HEARD(a, "lost: silence");
  connects(s);
  SHOWN(s, "connected");
  END(s);
}

TEST("ends a hold after max_hold, and says so") {
  struct stage *s = BEGIN();
  struct actor *a = HOLDER(s, 1, .max_hold = 3000);
  passes(s, 2999);
  HEARD(a, "");
  passes(s, 1);
  HEARD(a, "lost: max_hold");
  SHOWN(s, "");
  confirms(s, "get 1, remove 1");
  HEARD(a, "removed, forgotten");
  END(s);
}

TEST("blames whichever was over first, the lease or max_hold") {
  struct stage *s = BEGIN();
  struct actor *brief = HOLDER(s, 1, .max_hold = 3000);
  struct actor *other = HOLDER(s, 2, .path = "/other", .max_hold = 19000);
  stops_for(s, 20000);
  passes(s, 1);
  HEARD(brief, "lost: max_hold");
  HEARD(other, "lost: silence");
  END(s);
}

TEST("refuses at the deadline, with the one ahead") {
  struct stage *s = BEGIN();
  others_say(s, "job 7");
  struct actor *a = WAITER(s, .within = 3000);
  passes(s, 2999);
  HEARD(a, "");
  passes(s, 1);
  HEARD(a, "refused: timeout");
  CHECK_TEXT("job 7, who holds", rival_of(a));
  CHECK_INT(1, counted(s, "timeouts"));
  SENT(s, "unwatch 1, remove 2");
  END(s);
}

TEST("keeps the deadline of one that begins again") {
  struct stage *s = BEGIN();
  struct actor *a = WAITER(s, .within = 3000);
  passes(s, 2000);
  deleted(s, "2");
  SENT(s, "unwatch 1, create lock, list");
  passes(s, 1000);
  HEARD(a, "refused: timeout");
  END(s);
}

TEST("calls a deadline without a connection a disconnection") {
  struct stage *s = BEGIN();
  struct actor *a = WAITER(s, .within = 3000);
  disconnects(s);
  passes(s, 3000);
  HEARD(a, "refused: disconnected");
  END(s);
}

TEST("lets the grant win over a deadline that comes with it") {
  struct stage *s = BEGIN();
  struct actor *a = WAITER(s, .within = 3000);
  together(s);
  stops_for(s, 3000);
  deleted(s, "1");
  apart(s);
  HEARD(a, "granted");
  END(s);
}

TEST("lets a deadline win over the grant that comes after it") {
  struct stage *s = BEGIN();
  struct actor *a = WAITER(s, .within = 3000);
  passes(s, 3000);
  deleted(s, "1");
  HEARD(a, "refused: timeout");
  END(s);
}

TEST("asks an extra question when an answer takes a quarter of a second") {
  struct stage *s = BEGIN();
  rounds_by_hand(s, true);
  ACQUIRE(s);
  SENT(s, "create lock, list");
  passes(s, 249);
  SENT(s, "");
  passes(s, 1);
  SENT(s, "ping");
  passes(s, 1000);
  SENT(s, ""); /* one at a time */
  made(s, 1);
  shows(s, "1");
  confirms(s, "ping");
  END(s);
}

TEST("sends rounds often while somebody holds, seldom while nobody wants") {
  struct stage *s = BEGIN();
  CHECK_INT(3000, pace(s));
  struct actor *a = WAITER(s);
  CHECK_INT(1667, pace(s)); /* a sixth */
  deleted(s, "1");
  HEARD(a, "granted");
  CHECK_INT(917, pace(s)); /* about an eleventh */
  END(s);
}

TEST("proves by its rounds a lease of half of T or more while it holds") {
  struct stage *s = BEGIN();
  HOLDER(s, 1);
  passes(s, 2000);
  confirms(s, "get 1");
  for (int i = 0; i < 10000; i++) {
    passes(s, 1);
    CHECK(i < 5000 || lease_of(s) > 4900);
    CHECK(i < 5000 || lease_of(s) < 5900);
  }
  END(s);
}

/* ---- Who does not wait ------------------------------------------------------ */

TEST("tells one that does not wait that the lock is taken, and by whom") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .tries = true);
  made(s, 2);
  shows(s, "1 2");
  HEARD(a, "refused: busy");
  confirms(s, "remove 2");
  SENT(s, ""); /* no watch */
  END(s);
}

TEST("does not take a node for a holder that is on its way out") {
  struct stage *s = BEGIN();
  struct actor *first = HOLDER(s, 1);
  release(first);
  struct actor *second = ACQUIRE(s, .tries = true);
  SENT(s, "remove 1, create lock, list");
  confirms(s, "remove 1");
  made(s, 2);
  shows(s, "1 2"); /* (a list of a server that lags) */
  HEARD(second, "refused: busy");
  END(s);
}

/* ---- Readers and writers ---------------------------------------------------- */

TEST("grants readers together, and none behind a writer") {
  struct stage *s = BEGIN();
  struct actor *first = ACQUIRE(s, .lock = READER);
  struct actor *second = ACQUIRE(s, .lock = READER);
  SENT(s, "create read, list, create read, list");
  made(s, 2);
  shows(s, "1r 2");
  HEARD(first, "granted");
  made(s, 4);
  shows(s, "1r 2 3w 4");
  HEARD(second, "");
  confirms(s, "get 4, get 3");
  deleted(s, "3w");
  HEARD(second, "granted");
  END(s);
}

TEST("lets a writer wait for readers and writers ahead") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .lock = WRITER);
  made(s, 3);
  shows(s, "1r 2r 3");
  confirms(s, "get 3, get 2, get 1");
  deleted(s, "1r");
  deleted(s, "2r");
  HEARD(a, "granted"); /* behind readers no list is needed */
  SENT(s, "");
  END(s);
}

TEST(
    "lists after a writer that stood before a writer: it may have downgraded") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .lock = WRITER);
  made(s, 2);
  shows(s, "1w 2");
  confirms(s, "get 2, get 1");
  deleted(s, "1w");
  HEARD(a, "");
  shows(s, "1r 2");
  HEARD(a, "");
  confirms(s, "get 1");
  deleted(s, "1r");
  HEARD(a, "granted");
  END(s);
}

TEST("downgrades to a reader of the writer's own number, with its token") {
  struct stage *s = BEGIN();
  struct actor *writer = HOLDER(s, 4, .lock = WRITER);
  struct actor *reader = ACQUIRE(s, .lock = READER, .below = writer);
  SENT(s, "create read 4, list");
  made(s, 99);
  shows(s, "4w 4r 5w"); /* both: the writer's place is the reader's */
  HEARD(reader, "granted");
  CHECK_INT(1004, token_of(reader));
  release(writer);
  confirms(s, "remove 4");
  HEARD(reader, "");
  END(s);
}

TEST("refuses a downgrade when the writer was gone before the reader came") {
  struct stage *s = BEGIN();
  struct actor *writer = HOLDER(s, 4, .lock = WRITER);
  struct actor *reader = ACQUIRE(s, .lock = READER, .below = writer);
  made(s, 99);
  shows(s, "4r 5w");
  HEARD(reader, "refused: lost");
  END(s);
}

TEST("ends a downgrade with its session: the writer's place is gone") {
  struct stage *s = BEGIN();
  struct actor *writer = HOLDER(s, 4, .lock = WRITER);
  struct actor *reader = ACQUIRE(s, .lock = READER, .below = writer);
  expires(s);
  HEARD(writer, "lost: closed, removed, forgotten");
  HEARD(reader, "refused: lost, removed, forgotten");
  END(s);
}

TEST("contends with kazoo in kazoo's spelling") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .lock = WRITER, .kazoo = true);
  SENT(s, "create lock of kazoo, list");
  made(s, 3);
  shows(s, "1kr 2k 3");
  confirms(s, "get 3, get 2, get 1");
  HEARD(a, "");
  END(s);
}

/* ---- The semaphore ---------------------------------------------------------- */

/* Inside the inner mutex, with permit 2 made and not yet counted. */
static struct actor *inside(struct stage *s, struct wish wish) {
  wish.lock = PERMIT;
  struct actor *a = acquire(s, wish);
  SENT(s, "create lock, list");
  made(s, 7);
  shows(s, "7");
  SENT(s, "create permit, list");
  made(s, 2);
  HEARD(a, "");
  return a;
}

TEST("lets one into the semaphore's gate, who makes a permit and counts") {
  struct stage *s = BEGIN();
  struct actor *a = inside(s, (struct wish){.permits = 2});
  shows(s, "1p 2p");
  HEARD(a, "granted");
  CHECK_INT(1002, token_of(a));
  confirms(s, "remove 7"); /* the next may ask */
  release(a);
  confirms(s, "remove 2");
  HEARD(a, "removed, forgotten");
  END(s);
}

TEST(
    "waits inside the gate until there are no more permits than there may be") {
  struct stage *s = BEGIN();
  struct actor *a = inside(s, (struct wish){.permits = 2});
  shows(s, "0p 1p 2");
  HEARD(a, "");
  SENT(s, "get 2, list and watch");
  confirms(s, "get 2");
  shows(s, "0p 1p 2");
  HEARD(a, "");
  children_changed(s, "/lock/leases");
  SENT(s, "list and watch");
  shows(s, "0p 2");
  HEARD(a, "granted");
  confirms(s, "unwatch children, remove 7");
  END(s);
}

TEST("keeps the others of its session before the gate meanwhile") {
  struct stage *s = BEGIN();
  struct actor *first = inside(s, (struct wish){.permits = 2});
  struct actor *second = ACQUIRE(s, .lock = PERMIT, .permits = 2);
  SENT(s, "create lock, list");
  shows(s, "1p 2");
  HEARD(first, "granted");
  made(s, 8);
  shows(s, "7 8");
  SENT(s, "remove 7, get 8, get 7");
  confirms(s, "remove 7, get 8");
  answers(s, "get 7", REPLY_NO_NODE);
  SENT(s, "create permit, list");
  made(s, 3);
  shows(s, "1p 2 3");
  HEARD(second, "");
  END(s);
}

TEST("gives its permit back when it loses the gate, and begins again") {
  struct stage *s = BEGIN();
  struct actor *a = inside(s, (struct wish){.permits = 1});
  shows(s, "1p 2");
  HEARD(a, "");
  confirms(s, "get 2");
  shows(s, "1p 2");
  passes(s, 2000);
  confirms(s, "get 7");
  deleted(s, "locks:7"); /* somebody deletes the inner node */
  HEARD(a, "");
  confirms(s, "unwatch children");
  deleted(s, "leases:2");
  confirms(s, "remove 2");
  SENT(s, "create lock, list");
  HEARD(a, "");
  END(s);
}

TEST("tells one that does not wait that somebody is inside the gate") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .lock = PERMIT, .tries = true);
  made(s, 7);
  shows(s, "6 7");
  HEARD(a, "refused: busy, removed");
  confirms(s, "remove 7");
  HEARD(a, "forgotten");
  END(s);
}

TEST("refuses a permit at its deadline, wherever it waits") {
  struct stage *s = BEGIN();
  struct actor *in = inside(s, (struct wish){.within = 3000});
  struct actor *out = ACQUIRE(s, .lock = PERMIT, .within = 3000);
  shows(s, "1p 2");
  made(s, 8);
  shows(s, "7 8");
  passes(s, 3000);
  HEARD(in, "refused: timeout");
  HEARD(out, "refused: timeout, removed");
  END(s);
}

TEST("lists again when there was no memory for a change of the directory") {
  struct stage *s = BEGIN();
  struct actor *a = inside(s, (struct wish){.permits = 1});
  shows(s, "1p 2");
  confirms(s, "get 2");
  shows(s, "1p 2");
  children_changed(s, "/lock/leases");
  shows_without_memory(s);
  HEARD(a, "");
  passes(s, 100);
  shows(s, "2");
  HEARD(a, "granted");
  END(s);
}

TEST("does not take a watch of a directory for armed that it takes away") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .watches_parent = true);
  made(s, 2);
  shows(s, "1 2");
  confirms(s, "get 2");
  struct actor *b = ACQUIRE(s, .watches_parent = true);
  SENT(s, "list and watch, create lock, list and watch");
  shows(s, "2");
  HEARD(a, "granted"); /* it needs no watch any more */
  made(s, 3);
  SENT(s, "unwatch children");
  shows(s, "2 3");
  HEARD(b, "");
  confirms(s, "unwatch children");
  SENT(s, "get 3, list and watch");
  END(s);
}

TEST("shows no list to a permit that is gone while its gate is not") {
  struct stage *s = BEGIN();
  struct actor *a = inside(s, (struct wish){.permits = 2});
  shows(s, "2");
  HEARD(a, "granted");
  answers(s, "remove 7", REPLY_NO_AUTH); /* the gate's node stays */
  release(a);
  confirms(s, "remove 2");
  HEARD(a, "removed");
  struct actor *b = ACQUIRE(s, .lock = PERMIT, .permits = 2);
  made(s, 8);
  shows(s, "8"); /* an operator has deleted it */
  made(s, 3);
  shows(s, "3");
  HEARD(a, "");
  HEARD(b, "granted");
  END(s);
}

/* ---- The unfair lock -------------------------------------------------------- */

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
  disconnects(s);
  connects(s);
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
  disconnects(s);
  connects(s);
  shows(s, "");
  reads(s, "get holder", false, 77);
  HEARD(a, "");
  CHECK_TEXT("queued", state_of(a));
  END(s);
}

TEST("tries again where there is no unfair node after a lost reply") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .lock = UNFAIR);
  disconnects(s);
  connects(s);
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
  disconnects(s);
  connects(s);
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
  disconnects(s);
  connects(s);
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

/* ---- Local turns ------------------------------------------------------------ */

TEST("passes its node on to the next of the session, without a request") {
  struct stage *s = BEGIN();
  struct actor *a = HOLDER(s, 1, .handoffs = 2);
  struct actor *b = ACQUIRE(s, .handoffs = 2), *c = ACQUIRE(s, .handoffs = 2);
  SENT(s, ""); /* they share the node */
  release(a);
  HEARD(a, "removed, forgotten");
  HEARD(b, "granted");
  HEARD(c, "");
  CHECK_INT(1001, token_of(b));
  CHECK_INT(1, counted(s, "local_turns"));
  SENT(s, "");
  END(s);
}

TEST("ends the local turns after so many: the next goes to the tail") {
  struct stage *s = BEGIN();
  struct actor *a = HOLDER(s, 1, .handoffs = 1);
  struct actor *b = ACQUIRE(s, .handoffs = 1), *c = ACQUIRE(s, .handoffs = 1);
  release(a);
  HEARD(b, "granted");
  release(b);
  HEARD(c, "");
  confirms(s, "remove 1");
  SENT(s, "create lock, list");
  END(s);
}

TEST("does not pass a node on without a lease") {
  struct stage *s = BEGIN();
  struct actor *a = HOLDER(s, 1, .handoffs = 2);
  struct actor *b = ACQUIRE(s, .handoffs = 2);
  stops_for(s, 9500);
  release(a);
  HEARD(b, "");
  END(s);
}

TEST("does not pass a node on that others ask for") {
  struct stage *s = BEGIN();
  struct actor *a = HOLDER(s, 1, .handoffs = 2);
  struct actor *b = ACQUIRE(s, .handoffs = 2);
  passes(s, 2000);
  asks_to_let_go(s);
  confirms(s, "get 1");
  HEARD(a, "revoked");
  release(a);
  HEARD(b, "");
  deleted(s, "1");
  confirms(s, "remove 1");
  SENT(s, "create lock, list");
  END(s);
}

/* ---- Revocation -------------------------------------------------------------- */

TEST("tells a holder that somebody asks for the lock, once") {
  struct stage *s = BEGIN();
  struct actor *a = HOLDER(s, 1);
  passes(s, 2000);
  confirms(s, "get 1");
  asks_to_let_go(s);
  changed(s, "1");
  HEARD(a, "");
  confirms(s, "get 1");
  HEARD(a, "revoked");
  changed(s, "1");
  confirms(s, "get 1");
  HEARD(a, "");
  END(s);
}

TEST("tells one after its grant what was asked of it before") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s);
  made(s, 2);
  asks_to_let_go(s);
  shows(s, "1 2");
  confirms(s, "get 2, get 1");
  HEARD(a, "");
  deleted(s, "1");
  HEARD(a, "granted, revoked");
  END(s);
}

/* ---- Directories ------------------------------------------------------------- */

TEST("makes a missing directory, as a container, and then its node") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .path = "/app/lock");
  answers(s, "create lock", REPLY_NO_NODE);
  answers(s, "list", REPLY_NO_NODE);
  answers(s, "mkdir /app/lock", REPLY_NO_NODE);
  confirms(s, "mkdir /app, mkdir /app/lock");
  SENT(s, "create lock, list");
  made(s, 1);
  shows(s, "1");
  HEARD(a, "granted");
  END(s);
}

TEST("makes a persistent directory where servers know no containers") {
  struct stage *s = BEGIN();
  ACQUIRE(s);
  answers(s, "create lock", REPLY_NO_NODE);
  answers(s, "list", REPLY_NO_NODE);
  answers(s, "mkdir /lock", REPLY_UNIMPLEMENTED);
  confirms(s, "mkdir /lock for good");
  SENT(s, "create lock, list");
  END(s);
}

TEST("makes a missing chroot for good: it is the application's") {
  struct stage *s = BEGIN(.chroot = "/app");
  ACQUIRE(s, .path = "/app/lock");
  answers(s, "create lock", REPLY_NO_NODE);
  answers(s, "list", REPLY_NO_NODE);
  answers(s, "mkdir /app/lock", REPLY_NO_NODE);
  confirms(s, "mkdir /app for good, mkdir /app/lock");
  END(s);
}

TEST("refuses with auth what may not be created, made or listed") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s), *b = ACQUIRE(s, .path = "/b/lock");
  struct actor *c = ACQUIRE(s, .path = "/c");
  answers(s, "create lock", REPLY_AUTH_FAILED);
  HEARD(a, "refused: auth, removed, forgotten");
  CHECK_INT(REPLY_AUTH_FAILED, reason_of(a));
  answers(s, "list", REPLY_OK);
  answers(s, "create lock", REPLY_NO_NODE);
  answers(s, "list", REPLY_NO_NODE);
  made(s, 1);
  answers(s, "list", REPLY_NO_AUTH);
  HEARD(c, "refused: auth");
  CHECK_INT(REPLY_NO_AUTH, reason_of(c)); /* not that of another */
  answers(s, "mkdir /b/lock", REPLY_INVALID_ACL);
  HEARD(b, "refused: auth, removed, forgotten");
  CHECK_INT(REPLY_INVALID_ACL, reason_of(b));
  confirms(s, "remove 1");
  END(s);
}

TEST("deletes a directory whose numbers end, once it is empty") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s);
  made(s, 2147483000);
  shows(s, "2147483000");
  HEARD(a, ""); /* nobody is granted by such a number */
  confirms(s, "remove 2147483000");
  HEARD(a, "");
  confirms(s, "look at /lock, remove /lock");
  SENT(s, "create lock, list");
  answers(s, "create lock", REPLY_NO_NODE);
  answers(s, "list", REPLY_NO_NODE);
  confirms(s, "mkdir /lock");
  made(s, 0);
  shows(s, "0");
  HEARD(a, "granted");
  END(s);
}

TEST("keeps a directory whose numbers end if it has data of somebody's") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s);
  made(s, 2147483000);
  shows(s, "2147483000");
  confirms(s, "remove 2147483000");
  others_say(s, "mine");
  confirms(s, "look at /lock");
  HEARD(a, "refused: invalid, removed, forgotten");
  CHECK_INT(REASON_COUNTER_AT_END, reason_of(a));
  SENT(s, "");
  END(s);
}

TEST("comes back after a while to a directory that is not empty yet") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s);
  made(s, 2147483000);
  shows(s, "2147483000");
  confirms(s, "remove 2147483000, look at /lock");
  answers(s, "remove /lock", REPLY_NOT_EMPTY);
  passes(s, 99);
  SENT(s, "");
  HEARD(a, "");
  struct actor *b = ACQUIRE(s, .tries = true);
  HEARD(b, "refused: busy, removed, forgotten");
  passes(s, 1);
  SENT(s, "remove /lock");
  END(s);
}

TEST("counts the refusal to delete what is not empty as a round") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s);
  made(s, 2147483000);
  shows(s, "2147483000");
  confirms(s, "remove 2147483000, look at /lock");
  for (int i = 0; i < 200; i++) {
    answers(s, "remove /lock", REPLY_NOT_EMPTY);
    passes(s, 100);
  }
  HEARD(a, "");
  CHECK(lease_of(s) > 0);
  END(s);
}

/* ---- A create that servers do not take ---------------------------------------- */

TEST("refuses a large create at which the connection was lost three times") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .bytes = 100000);
  disconnects(s); /* it was sent beside a list: that accuses nobody yet */
  for (int i = 0; i < 3; i++) {
    connects(s);
    shows(s, "");
    HEARD(a, "");
    passes(s, 1000);        /* the connection lives without it */
    SENT(s, "create lock"); /* alone: the list waits */
    disconnects(s);
  }
  connects(s);
  shows(s, "");
  HEARD(a, "refused: invalid, removed, forgotten");
  CHECK_INT(REASON_TOO_LARGE, reason_of(a));
  struct actor *small = ACQUIRE(s);
  SENT(s, "create lock, list");
  HEARD(small, "");
  END(s);
}

TEST("never suspects a small create, however often the connection is lost") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .bytes = 800);
  for (int i = 0; i < 10; i++) {
    disconnects(s);
    connects(s);
    shows(s, "");
    SENT(s, "create lock, list");
  }
  HEARD(a, "");
  END(s);
}

TEST("does not accuse a large create of a connection that fell silent") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .bytes = 100000);
  disconnects(s);
  for (int i = 0; i < 6; i++) {
    connects(s);
    shows(s, "");
    passes(s, 1000);
    SENT(s, "create lock");
    passes(s, 2500); /* a server that does not take it does not wait */
    disconnects(s);
  }
  HEARD(a, "");
  END(s);
}

TEST("lets nobody overtake a large create that waits for its moment") {
  struct stage *s = BEGIN();
  ACQUIRE(s, .bytes = 100000);
  disconnects(s);
  connects(s);
  shows(s, "");
  SENT(s, "create lock"); /* alone */
  disconnects(s);
  connects(s);
  shows(s, "");
  ACQUIRE(s);
  passes(s, 999);
  SENT(s, "");
  passes(s, 1);
  SENT(s, "create lock");
  made(s, 1);
  SENT(s, "create lock, list");
  END(s);
}

/* ---- Limits ------------------------------------------------------------------ */

TEST("lets a thousand of a path have a node, and the others wait in order") {
  struct stage *s = BEGIN(.timeout = 40000);
  struct actor *all[1002];
  char list[1000 * 5 + 1] = "";
  together(s);
  for (int i = 0; i < 1002; i++) all[i] = ACQUIRE(s, .lock = READER);
  apart(s);
  for (int i = 0; i < 1000; i++) {
    made(s, i);
    sprintf(list + strlen(list), " %d", i);
  }
  shows(s, list);
  HEARD(all[0], "granted");
  HEARD(all[999], "granted");
  HEARD(all[1000], "");
  CHECK_TEXT("parked", state_of(all[1000]));
  struct actor *hasty = ACQUIRE(s, .lock = READER, .tries = true);
  HEARD(hasty, "refused: busy, removed, forgotten");
  SENT(s, "");
  release(all[500]);
  confirms(s, "remove 500");
  SENT(s, "create read, list");
  CHECK_TEXT("entering", state_of(all[1000]));
  CHECK_TEXT("parked", state_of(all[1001]));
  END(s);
}

/* A path of 900 bytes that is nobody else's. */
static char *long_path(int number) {
  static char path[1000];
  memset(path, 'x', 900);
  snprintf(path, sizeof path, "/%04d", number);
  path[5] = 'x';
  path[900] = '\0';
  return path;
}

TEST("keeps a session's nodes and watches below what a packet may have") {
  struct stage *s = BEGIN(.timeout = 40000);
  struct actor *holders[2000];
  int n = 0;
  for (; n < 2000; n++) {
    holders[n] = ACQUIRE(s, .path = long_path(n));
    if (strcmp(sent(s), "create lock, list") != 0) break;
    made(s, 1);
    shows(s, "1");
    HEARD(holders[n], "granted");
  }
  /* Each is the first of its path, so a million bytes are theirs. */
  HEARD(holders[n], "refused: invalid, removed, forgotten");
  CHECK_INT(REASON_NO_ROOM, reason_of(holders[n]));
  CHECK(n > 1000 && n < 1100);
  struct actor *second = ACQUIRE(s, .path = long_path(0));
  struct actor *hasty = ACQUIRE(s, .path = long_path(0), .tries = true);
  HEARD(second, ""); /* waits until there is room */
  HEARD(hasty, "refused: busy, removed, forgotten");
  CHECK_TEXT("parked", state_of(second));
  int left = 0;
  for (; strcmp(state_of(second), "parked") == 0; left++) {
    release(holders[left + 1]);
    confirms(s, "remove 1");
  }
  CHECK_TEXT("entering", state_of(second));
  CHECK(left > 200 && left < 300); /* a fifth is for the first of a path */
  END(s);
}

/* ---- The end ----------------------------------------------------------------- */

TEST("tells everybody when the session is closed") {
  struct stage *s = BEGIN();
  struct actor *holds = HOLDER(s, 1, .path = "/other");
  struct actor *waits = WAITER(s);
  struct actor *leaves = HOLDER(s, 3, .path = "/third");
  release(leaves);
  struct actor *asks = ACQUIRE(s);
  struct actor *permit = ACQUIRE(s, .lock = PERMIT, .path = "/permits");
  close_session(s);
  SHOWN(s, "closed");
  HEARD(holds, "lost: closed, removed, forgotten");
  HEARD(waits, "refused: closed, removed, forgotten");
  HEARD(asks, "refused: closed, removed, forgotten");
  HEARD(permit, "refused: closed, removed, forgotten");
  HEARD(leaves, "removed, forgotten");
  END(s);
}
