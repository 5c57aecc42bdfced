/* Who comes back to a queue: it knows from its last list whom it will find just
 * ahead of it, and lists when that one is gone. */
#include "stage.h"

ABOUT("The protocol, where somebody comes back to a queue,");

/* One has held the lock, with 3 and 4 behind its node 2, and comes back. */
static struct actor *comes_back(struct stage *s) {
  struct actor *a = ACQUIRE(s);
  stage_happens(s, "create lock: 2, list: 1 2 3 4, get 2, get 1, deleted 1");
  release(a);
  heard(a);
  return ACQUIRE(s);
}

STORY("grants without a round trip who comes back behind another") {
  struct actor *a = comes_back(s);
  int told = counted(s, "handoffs");
  SENT(s, "remove 2, create lock, get 4");
  happens(s, "deleted 2, remove 2");
  /* the one after which it was granted has come back, too */
  SENDS(s, "create lock: 6, get 4", "");
  SENDS(s, "deleted 4", "list"); /* now 5 holds */
  SENDS(s, "list: 5 6", "get 6, get 5");
  HEARS(a, "get 6, get 5", "");
  HEARS(a, "deleted 5", "granted");
  CHECK_INT(told + 1, counted(s, "handoffs"));
  SENT(s, "");
}

STORY("watches the one before the last, too, if nobody has come in between") {
  struct actor *a = comes_back(s);
  SENDS(s, "deleted 2, remove 2, create lock: 5", "get 4, get 3");
  SENDS(s, "get 4, get 3, deleted 3", "get 5, list");
  SENDS(s, "get 5, list: 4 5", "");
  HEARS(a, "deleted 4", "granted");
}

STORY("waits for the last one, too, if two have come in between") {
  struct actor *a = comes_back(s);
  SENDS(s, "deleted 2, remove 2, create lock: 7, get 4", "");
  SENDS(s, "deleted 4, list: 5 6 7", "get 7, get 6, get 5");
  SENDS(s, "get 7, get 6, get 5, deleted 5", "");
  HEARD(a, "");
  HEARS(a, "deleted 6", "granted");
}

STORY("lists at once if too many have come in between") {
  struct actor *a = comes_back(s);
  SENDS(s, "deleted 2, remove 2, create lock: 8, get 4", "list");
  HEARS(a, "list: 3 4 5 6 7 8", "");
}

STORY("lists beside its create if only one was behind it") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 2, list: 1 2 3, get 2, get 1, deleted 1");
  release(a);
  heard(a);
  a = ACQUIRE(s);
  SENT(s, "remove 2, create lock, list");
  happens(s, "deleted 2, remove 2");
  HEARS(a, "create lock: 4, list: 3 4, get 4, get 3, deleted 3", "granted");
  SENT(s, "");
}

/* What it looked for in vain is there: a create that came late made it, and its
 * number is smaller than that of somebody's with our mark, which was read first. */
STORY("lists when it begins again, for it may have left a node behind") {
  struct actor *a = WAITER(s), *b = ACQUIRE(s);
  made_unheard(s, 3);
  made_unheard(s, 9);
  happens(s, "disconnects, connects, list: 1 2 9 10, get 2, get 1");
  happens(s, "get 9: theirs 1009, unwatch 9, list: 1 2 3 9 10");
  SENT(s, "create lock, list");
  HEARS(a, "create lock: 11, list: 1 2 3 9 10 11", "");
  HEARD(b, "");
  SENT(s, "ask about 3, ask about 9, get 11, get 10, get 9");
}
