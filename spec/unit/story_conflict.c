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
  CHECK_TEXT("web1:7", rival_of(a));
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
