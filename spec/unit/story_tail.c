/* Who comes back to a queue: it knows from its last list whom it will find just
 * ahead of it, and lists when that one is gone. */
#include "stage.h"

ABOUT("The protocol, where somebody comes back to a queue,");

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
