/* Locks of different kinds on one path. */
#include "stage.h"

ABOUT("The protocol, where a lock of another kind uses the path,");

/* It is read, is live, and is so still after a moment. */
static void lives(struct stage *s, const char *shown, const char *look) {
  happens(s, "%s: theirs 1001, 100 ms, list: %s", look, shown);
  happens(s, "%s: theirs 1001", look);
}

STORY("says whose node it is") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 2, list: 1r 2");
  others_say(s, "web1:7");
  lives(s, "1r 2", "look at 1");
  HEARD(a, "refused: conflict");
  CHECK_TEXT("web1:7", blocker_of(a));
}

STORY("asks for the owner alone of what may not be read") {
  struct actor *a = ACQUIRE(s), *b;
  happens(s, "create lock: 2, list: 1w 2, look at 1: no auth");
  happens(s, "ask about 1: theirs 1001, 100 ms, list: 1w 2");
  HEARS(a, "look at 1: no auth, ask about 1: theirs 1001", "refused: conflict");
  CHECK_TEXT("nobody", blocker_of(a));
  happens(s, "remove 2");
  b = ACQUIRE(s);
  happens(s, "create lock: 3, list: 1w 3, look at 1: no auth");
  happens(s, "ask about 1: no auth"); /* its owner is unknown: no conflict */
  HEARS(b, "list: 1w 3", "granted");
}

STORY("is not refused by a node of its own session that is on its way out") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 2, list: 1w 2, look at 1: ours 1001, list: 1w 2");
  HEARD(a, "granted");
}

STORY("is refused for it where its time is over before that is certain") {
  struct actor *a = ACQUIRE(s, .within = 50);
  HEARS(a, "create lock: 2, list: 1w 2, look at 1: theirs 1001", "");
  HEARS(a, "50 ms", "refused: conflict");
  CHECK_TEXT("write of 99", other_of(a));
  CHECK_TEXT("nobody", blocker_of(a));
}

STORY("is refused where another one is there at each look, for a second") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 2, list: 2 leases");
  for (int i = 0; i < 10; i++) {
    happens(s, "list: %dp, look at %d: theirs %d", i, i, 1001 + i);
    HEARD(a, "");
    happens(s, "100 ms, list: 2 leases");
  }
  HEARS(a, "list: 77p, look at 77: theirs 1077", "refused: conflict");
}

STORY("looks again where the node that was looked behind is not its own") {
  next_is_as_forged(s);
  ACQUIRE(s);
  made_unheard(s, 2);
  reconnects(s);
  shows_forged(s, "5", 1); /* it may be the first, and nothing else is there */
  SENT(s, "get 0");
  SENDS(s, "get 0: theirs 1001", "unwatch 0, list");
  SENDS(s, "unwatch 0, list: 1w 2", "look at 1");
}

STORY("never ends a wait or a hold that has begun") {
  struct actor *a = WAITER(s);
  SENDS(s, "changed 1, get 1, list: 1 2 3w holder leases", "");
  happens(s, "reconnects, list: 1 2 3w holder leases, get 2, get 1, deleted 1");
  HEARD(a, "granted");
}

STORY("lets a writer downgrade whatever has come to the path") {
  struct actor *writer = HOLDER(s, 1, .lock = WRITER);
  struct actor *reader = ACQUIRE(s, .lock = READER, .below = writer);
  happens(s, "get 1, create read 1: 1, list: 1w 1r holder leases");
  HEARD(reader, "granted");
}

STORY("tries again where there was no memory to look") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 2");
  shows_then_no_memory(s, "1w 2");
  HEARD(a, "");
  happens(s, "200 ms, list: 1w 2");
  lives(s, "1w 2", "look at 1");
  HEARD(a, "refused: conflict");
}

/* Before a grant that no list of the path precedes. */

STORY("lists the path before an unfair lock is granted, once in a timeout") {
  struct actor *a = ACQUIRE(s, .lock = UNFAIR, .minds = true), *b;
  SENT(s, "create holder with hold, get holder");
  HEARS(a, "create holder with hold: 1, get holder", "");
  SENT(s, "list");
  HEARS(a, "list: holder 1h orders", "granted");
  release(a);
  HEARS(a, "remove holder with 1, unwatch holder", "removed, forgotten");
  b = ACQUIRE(s, .lock = UNFAIR, .minds = true);
  HEARS(b, "create holder with hold: 2, get holder", "granted");
  release(b);
  happens(s, "remove holder with 2, unwatch holder, 10000 ms");
  ACQUIRE(s, .lock = UNFAIR, .minds = true);
  sent(s);
  SENDS(s, "create holder with hold: 3, get holder", "list");
}

TEST("refuses an unfair lock beside a mutex, beside permits") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s, .lock = UNFAIR, .minds = true);
  happens(s, "create holder with hold: 3, get holder, list: 1w 2 holder 3h");
  happens(s, "look at 2: nobody's, look at 1: theirs 1001, 100 ms");
  HEARS(a, "list: 1w holder 3h, look at 1: theirs 1001", "refused: conflict");
  HEARS(a, "remove holder with 3, unwatch holder", "removed, forgotten");
  END(s);
  s = BEGIN();
  a = ACQUIRE(s, .lock = UNFAIR, .minds = true, .tries = true);
  happens(s, "create holder with hold: 3, get holder, list: holder 3h leases");
  happens(s, "list: 1p, look at 1: theirs 1001, 100 ms");
  happens(s, "list: holder 3h leases, list: 1p, look at 1: theirs 1001");
  HEARD(a, "refused: conflict");
  CHECK_TEXT("permit of 99", other_of(a));
  END(s);
}

/* Inside the gate, with permit 2 made, the only one. */
static struct actor *asks_for_permit(struct stage *s) {
  struct actor *a = ACQUIRE(s, .lock = PERMIT, .minds = true);
  HEARS(a, "create lock: 7, list: 7, create permit: 2, list: 2", "");
  SENT(s, "list");
  return a;
}

STORY("does not trust a look at a path that was gone") {
  struct actor *a = asks_for_permit(s);
  HEARS(a, "list: no node", "");
  SENDS(s, "list: 2", "list");
  HEARS(a, "list: leases locks, list: 2", "granted");
}
