/* Strays: nodes with our mark that no contender of ours has. */
#include "stage.h"

ABOUT("The protocol, when a list shows orphans,");

STORY("leaves a stray alone that is of another session") {
  struct actor *a = ACQUIRE(s, .watches_parent = true);
  happens(s, "create lock: 5");
  shows_forged(s, "5", 1);
  happens(s, "get 5, ask about 0, children /lock");
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

STORY("deletes orphans a hundred at a time, a thousand for each list") {
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
