/* Nodes that are spelled like contenders, and that no session owns. */
#include "stage.h"

ABOUT("The protocol, beside nodes that no session owns,");

STORY("waits for a new node that has the name of a deleted one") {
  struct actor *a = ACQUIRE(s);
  HEARS(a, "create lock: 3, list: 1 2 3, get 3, get 2: nobody's, get 1", "");
  HEARS(a, "reconnects, list: 1 2 3, get 3, get 2: theirs 1002, get 1", "");
  HEARS(a, "deleted 1", "");
  HEARS(a, "deleted 2", "granted");
}

TEST("leaves the queue at a negative number, or its own twice") {
  static const char *const others[] = {"-5", "x-lock-0000000002"};
  for (int i = 0; i < 2; i++) {
    struct stage *s = BEGIN();
    struct actor *a = ACQUIRE(s);
    happens(s, "create lock: 2, list: 2 %s", others[i]);
    SENT(s, "remove 2");
    HEARD(a, "");
    END(s);
  }
}

STORY("loses a hold whose node was replaced while it had no connection") {
  struct actor *a = HOLDER(s, 1);
  happens(s, "reconnects, 2000 ms, get 1: nobody's");
  HEARD(a, "lost: node_deleted, removed, forgotten");
}
