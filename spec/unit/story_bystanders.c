/* Nodes that are spelled like contenders, and that no session owns. */
#include "stage.h"

ABOUT("The protocol, beside nodes of nobody,");

STORY("does not wait for one") {
  struct actor *a = ACQUIRE(s);
  HEARS(a, "create lock: 2, list: 1 2, get 2, get 1: nobody's", "");
  SENT(s, "list");
  HEARS(a, "list: 1 2", "granted");
  SENT(s, "");
}

STORY("is not let in by the end of one") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 3, list: 1 2 3, get 3, get 2: nobody's, get 1");
  HEARS(a, "list: 1 2 3, deleted 2", "");
  SENT(s, "");
  HEARS(a, "deleted 1", "granted");
}

STORY("waits for whoever has the name of one that is gone") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 2, list: 1 2, get 2, get 1: nobody's, deleted 1");
  HEARS(a, "list: 1 2, get 1", "");
  HEARS(a, "deleted 1", "granted");
}

STORY("looks anew at one that was written") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 2, list: 1 2, get 2, get 1: nobody's, changed 1");
  HEARS(a, "list: 1 2", "");
  HEARS(a, "get 1: nobody's, list: 1 2", "granted");
}

STORY("reads one again in the next connection before it passes it over") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 3, list: 1 2 3, get 3, get 2, get 1: nobody's");
  SENDS(s, "list: 1 2 3, reconnects", "get 1, list");
  happens(s, "get 1: theirs 1001"); /* somebody has made it anew */
  HEARS(a, "list: 1 3, unwatch 1, get 3, get 1", "");
  HEARS(a, "deleted 1", "granted");
}

/* Who does not wait. */

STORY("is busy behind one at once, and asks about it a timeout later") {
  struct actor *a = ACQUIRE(s, .tries = true);
  HEARS(a, "create lock: 2, list: 1 2", "refused: busy");
  happens(s, "remove 2, 9000 ms");
  a = ACQUIRE(s, .tries = true);
  HEARS(a, "create lock: 3, list: 1 3", "refused: busy");
  happens(s, "remove 3, 1000 ms");
  a = ACQUIRE(s, .tries = true);
  HEARS(a, "create lock: 4, list: 1 4", "");
  HEARS(a, "get 4, get 1: nobody's, list: 1 4", "granted");
  release(a);
  happens(s, "deleted 4, remove 4, unwatch 1");
  a = ACQUIRE(s, .tries = true); /* and from then on each time */
  happens(s, "create lock: 5, list: 1 5, get 5, get 1: nobody's, list: 1 5");
  HEARD(a, "granted");
}

STORY("is busy behind somebody's, asked about once in a timeout") {
  struct actor *a = ACQUIRE(s, .tries = true);
  happens(s, "create lock: 2, list: 1 2, remove 2, 10000 ms");
  a = ACQUIRE(s, .tries = true);
  HEARS(a, "create lock: 3, list: 1 3, get 3, get 1", "");
  HEARS(a, "list: 1 3", "refused: busy");
  happens(s, "deleted 3, unwatch 1, remove 3");
  a = ACQUIRE(s, .tries = true);
  HEARS(a, "create lock: 4, list: 1 4", "refused: busy");
}

/* What they may do to the order. */

STORY("is not sent away by a number below zero that one has") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 2, list: -5 2, get 2, get -000000005: nobody's");
  HEARS(a, "list: -5 2", "granted");
}

STORY("is sent away by such a number that is somebody's") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 2, list: -5 2, get 2, get -000000005, list: -5 2");
  SENT(s, "unwatch -000000005, remove 2");
  HEARD(a, "");
}

STORY("is not sent away where one has the number of its own node") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 2");
  shows_twin(s, 2);
  happens(s, "get 2, get 2: nobody's");
  shows_twin(s, 2);
  HEARD(a, "granted");
}

TEST("waits for one like for anybody else's where there are too many") {
  char shown[1000] = "";
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s);
  for (int i = 1; i <= 65; i++) sprintf(shown + strlen(shown), "%d ", i);
  strcat(shown, "99");
  happens(s, "create lock: 99");
  happens(s, "list: %s", shown);
  happens(s, "get 99");
  for (int i = 65; i >= 2; i--) {
    happens(s, "get %d: nobody's", i);
    if (i % 2 == 0) happens(s, "list: %s", shown);
  }
  SENDS(s, "get 1: nobody's", "");
  HEARD(a, "");
  CHECK_TEXT("queued", state_of(a));
  HEARS(a, "deleted 1", "granted");
  END(s);
}

/* In the place of our own. */

STORY("loses a hold whose node was replaced while it had no connection") {
  struct actor *a = HOLDER(s, 1);
  happens(s, "reconnects, 2000 ms, get 1: nobody's");
  HEARD(a, "lost: deleted, removed, forgotten");
}
