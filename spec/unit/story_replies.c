/* Replies that are lost: what was asked was done, or not, or will be. */
#include "stage.h"

ABOUT("The protocol, when replies are lost,");

STORY("leaves a stray alone that is of another session") {
  struct actor *a = ACQUIRE(s, .watches_parent = true);
  happens(s, "create lock: 5");
  shows_forged(s, "5", 1);
  happens(s, "ask about 0, get 5, children /lock");
  shows_forged(s, "5", 1);
  SENT(s, "");
  passes(s, 10000); /* it is asked about again */
  happens(s, "children /lock");
  shows_forged(s, "5", 1);
  happens(s, "ask about 0");
  CHECK_INT(0, counted(s, "orphans"));
  HEARD(a, "");
}

/* What bears our mark by the thousand was made by somebody who has read it. */

static void remove_all(struct stage *s, int most) {
  CHECK(counted(s, "in_flight") <= most);
  while (*oldest(s) && strcmp(oldest(s), "list") != 0) {
    happens(s, "%s", oldest(s));
    CHECK(counted(s, "in_flight") <= most);
  }
}

STORY("deletes strays a hundred at a time, and a thousand for a list") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 5000");
  forged_are_ours(s);
  shows_forged(s, "5000", 2500);
  CHECK_INT(0, counted(s, "orphans"));
  remove_all(s, 110);
  CHECK_INT(1000, counted(s, "orphans"));
  shows_forged(s, "5000", 1500);
  remove_all(s, 110);
  CHECK_INT(2000, counted(s, "orphans"));
  shows_forged(s, "5000", 500);
  remove_all(s, 110);
  CHECK_INT(2500, counted(s, "orphans"));
  HEARD(a, "");
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
