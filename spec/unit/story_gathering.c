/* The members of a double barrier, until they are let in. */
#include "stage.h"

ABOUT("The protocol, for a double barrier's members,");

/* One of two, with node 2: there is no `ready`, and nobody else. */
static struct actor *member(struct stage *s, struct wish wish) {
  wish.lock = MEMBER;
  wish.permits = 2;
  struct actor *a = acquire(s, wish);
  stage_sends(s, "", "create member, exists ready, list");
  stage_hears(a, "create member: 2, exists ready: no node, list: 2, get 2", "");
  stage_sends(s, "", "");
  return a;
}

/* One of two, with node 2, that has found enough of them, and no `ready`. */
static struct actor *opener(struct stage *s) {
  struct actor *a = acquire(s, (struct wish){.lock = MEMBER, .permits = 2});
  stage_happens(s, "create member: 2, exists ready: no node, list: 1m 2");
  stage_sends(s, "get 2", "mkdir ready for all");
  stage_hears(a, "", "");
  return a;
}

/* Is `ready` asked for again, as it is each sixth of a timeout? */
static bool asks_again(struct stage *s) {
  return strcmp("exists ready", sent(s)) == 0;
}

static void proves_lease(struct stage *s) {
  for (int i = 0; i < 10000 && lease_of(s) < 0; i++) {
    if (asks_again(s)) stage_happens(s, "exists ready: theirs 1003");
    passes(s, 1);
  }
  test_compare("it stands", true, lease_of(s) > 0);
}

STORY("lets in the last one, who makes `ready`") {
  struct actor *a = opener(s);
  HEARS(a, "mkdir ready for all: theirs 1003", "granted");
  CHECK_INT(1002, token_of(a));
  SENDS(s, "unwatch ready", "");
  release(a);
  HEARS(a, "deleted 2, remove 2", "removed, forgotten");
  CHECK_INT(0, counted(s, "watches"));
}

STORY("lets in the others when they hear of `ready`") {
  struct actor *a = member(s, (struct wish){0});
  CHECK_TEXT("queued", state_of(a));
  for (int i = 0; i < 1000; i++) {
    passes(s, 100);
    if (asks_again(s)) happens(s, "exists ready: no node");
  }
  HEARD(a, "");
  SENT(s, "");
  happens(s, "changed ready"); /* somebody has made it */
  HEARD(a, "granted");
  SENT(s, "");
}

STORY("is not let in by a `ready` that is older than its node") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  happens(s, "create member: 2, exists ready: theirs 1001, list: 2 ready");
  HEARS(a, "get 2", "");
  SENT(s, "");
  HEARS(a, "deleted ready, exists ready: no node", "");
  HEARS(a, "changed ready", "granted");
}

STORY("is not let in by a `ready` that was made before its node was known") {
  struct actor *b = member(s, (struct wish){0});
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  SENT(s, "create member, list");
  HEARS(b, "changed ready", "granted");
  happens(s, "create member: 4, list: 2 4, exists ready: no node");
  SENT(s, "get 4, mkdir ready for all");
  HEARD(a, "");
}

/* Connections. */

STORY("is let in though others have left before it had a connection again") {
  struct actor *a = member(s, (struct wish){0});
  happens(s, "reconnects, list: 2 ready, get 2, exists ready: theirs 1003");
  HEARD(a, "granted");
}

STORY("makes another node before it makes `ready` whose answer was lost") {
  struct actor *a = opener(s);
  HEARS(a, "reconnects", "");
  /* it may be made late */
  happens(s, "list: 1m 2, get 2, exists ready: no node");
  SENT(s, "remove 2, unwatch ready");
  happens(s, "deleted 2, remove 2, unwatch ready");
  SENT(s, "create member, list, exists ready");
  HEARD(a, "");
}

STORY("asks again a little later where it could not open") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  happens(s, "create member: 2, exists ready: theirs 1001");
  cannot_send(s, true);
  happens(s, "list: 1m 2 ready");
  cannot_send(s, false);
  SENT(s, "");
  SENDS(s, "100 ms", "get 2, remake ready for all");
  HEARD(a, "");
}

STORY("is not let in while the lease does not stand: it looks again") {
  struct actor *a = member(s, (struct wish){0});
  rounds_by_hand(s, true);
  stops_for(s, 20000);
  happens(s, "changed ready"); /* it lay in the socket, and so did the answer */
  SENT(s, "round");
  HEARD(a, "");
  rounds_by_hand(s, false);
  proves_lease(s);
  SENT(s, "list");
  HEARS(a, "list: 1m 2 ready", "granted");
}

STORY("begins again where its directory is gone when it makes `ready`") {
  struct actor *a = opener(s);
  HEARS(a, "mkdir ready for all: no node", "");
  SENT(s, "list");
  happens(s, "list: no node, unwatch 2, unwatch ready, create member: no node");
  HEARS(a, "ask about 2: no node, list: no node", "");
}

/* Its end, if it is another one. */

STORY("is refused as busy, if it does not wait, where there are not enough") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2, .tries = true);
  HEARS(a, "create member: 2, exists ready: no node, list: 2", "refused: busy");
  CHECK_TEXT("nobody", rival_of(a));
  SENT(s, "get 2, unwatch ready, remove 2");
  HEARS(a, "get 2, unwatch ready, remove 2", "removed, forgotten");
}

STORY("gives its node back at the deadline, when cancelled, and when closed") {
  struct actor *a = member(s, (struct wish){.within = 3000});
  HEARS(a, "3000 ms", "refused: timeout");
  SENT(s, "exists ready, remove 2");
  happens(s, "exists ready: no node, deleted 2, remove 2, unwatch ready");
  HEARD(a, "removed, forgotten");
  a = member(s, (struct wish){0});
  cancel(a);
  HEARD(a, "refused: cancelled");
  SENT(s, "unwatch ready, remove 2");
  HEARS(a, "deleted 2, unwatch ready, remove 2", "removed, forgotten");
  CHECK_INT(0, counted(s, "watches"));
  a = member(s, (struct wish){0});
  close_session(s);
  HEARD(a, "refused: closed, removed, forgotten");
}

STORY("is told of a deadline without a connection as of a disconnection") {
  struct actor *a = member(s, (struct wish){.within = 3000});
  HEARS(a, "disconnects, 3000 ms", "refused: disconnected");
}

STORY("refuses only the members for whom `ready` may not be made") {
  together(s);
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  struct actor *b = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  struct actor *few = ACQUIRE(s, .lock = MEMBER, .permits = 9);
  apart(s);
  happens(s, "create member: 2, exists ready: no node, create member: 3");
  happens(s, "create member: 4, list: 2 3 4");
  SENT(s, "get 2, mkdir ready for all, get 3, get 4");
  happens(s, "get 2: no auth"); /* (whoever has changed its ACL) */
  SENT(s, "");
  HEARD(a, "");
  release(few); /* (it holds nothing) */
  struct actor *late = ACQUIRE(s, .lock = MEMBER, .permits = 9);
  HEARS(a, "mkdir ready for all: no auth", "refused: denied");
  HEARD(b, "refused: denied");
  HEARD(few, "");
  HEARD(late, "");
}

STORY("is let in by somebody else's `ready` though its own may not be made") {
  together(s);
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  struct actor *b = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  apart(s);
  happens(s, "create member: 2, exists ready: no node, create member: 3");
  happens(s, "list: 2 3, get 2, changed ready, mkdir ready for all: no auth");
  HEARD(a, "granted");
  HEARD(b, "");
  HEARS(b, "get 3", "granted");
}

/* No memory. */

STORY("looks a little later where there was no memory for a watch") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  happens(s, "create member: 2, exists ready: no node");
  shows_then_no_memory(s, "1m 2");
  HEARD(a, "");
  SENT(s, "");
  happens(s, "100 ms, list: 1m 2, get 2, mkdir ready for all: theirs 1003");
  HEARD(a, "granted");
}

STORY("asks about `ready` behind the list where there was no memory before") {
  together(s);
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  memory_refuse(1);
  memory_spare(2); /* for the stage */
  apart(s);
  memory_refuse(0);
  SENT(s, "create member, list");
  SENDS(s, "create member: 2, list: 1m 2", "get 2, exists ready");
  happens(s, "get 2, exists ready: no node, mkdir ready for all: theirs 1003");
  HEARD(a, "granted");
}

STORY("opens a little later where there was no memory for that") {
  struct actor *a = member(s, (struct wish){0});
  happens(s, "reconnects, list: 1m 2, get 2");
  memory_refuse(1);
  happens(s, "exists ready: no node");
  memory_refuse(0);
  SENT(s, "");
  SENDS(s, "100 ms", "mkdir ready for all");
  HEARS(a, "mkdir ready for all: theirs 1003", "granted");
}
