/* Locks of different kinds on one path. */
#include "stage.h"

ABOUT("The protocol, where a lock of another kind uses the path,");

STORY("asks for the owner alone of what may not be read") {
  struct actor *a = ACQUIRE(s), *b;
  happens(s, "create lock: 2, list: 1w 2, look at 1: no auth");
  happens(s, "ask about 1: theirs 1001, 100 ms, list: 1w 2");
  HEARS(a, "look at 1: no auth, ask about 1: theirs 1001", "refused: conflict");
  happens(s, "remove 2");
  b = ACQUIRE(s);
  happens(s, "create lock: 3, list: 1w 3, look at 1: no auth");
  happens(s, "ask about 1: no auth"); /* its owner is unknown: no conflict */
  HEARS(b, "list: 1w 3", "granted");
}

STORY("is refused for it where its time is over before that is certain") {
  struct actor *a = ACQUIRE(s, .within = 50);
  HEARS(a, "create lock: 2, list: 1w 2, look at 1: theirs 1001", "");
  HEARS(a, "50 ms", "refused: conflict");
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
