/* Local turns: the contenders of a session share a node. */
#include "stage.h"

ABOUT("The protocol, with local turns,");

STORY("passes its node on to the next of the session, without a request") {
  struct actor *a = HOLDER(s, 1, .handoffs = 2);
  struct actor *b = ACQUIRE(s, .handoffs = 2), *c = ACQUIRE(s, .handoffs = 2);
  SENT(s, ""); /* they share the node */
  release(a);
  HEARD(a, "removed, forgotten");
  HEARD(b, "granted");
  HEARD(c, "");
  CHECK_INT(1001, token_of(b));
  CHECK_INT(1, counted(s, "local_turns"));
  SENT(s, "");
}

STORY("ends the local turns after so many: the next goes to the tail") {
  struct actor *a = HOLDER(s, 1, .handoffs = 1);
  struct actor *b = ACQUIRE(s, .handoffs = 1), *c = ACQUIRE(s, .handoffs = 1);
  release(a);
  HEARD(b, "granted");
  release(b);
  HEARD(c, "");
  SENDS(s, "remove 1", "create lock, list");
}

STORY("lets the next make a node while the shared one is being given back") {
  struct actor *a = HOLDER(s, 1, .handoffs = 1);
  struct actor *b = ACQUIRE(s, .handoffs = 1), *c = ACQUIRE(s, .handoffs = 1);
  release(a);
  HEARD(b, "granted");
  release(b);
  SENT(s, "remove 1");
  ACQUIRE(s, .handoffs = 1); /* and one more comes */
  CHECK_TEXT("entering", state_of(c));
  SENT(s, "create lock, list");
}

STORY("does not pass a node on to one that contends by other names") {
  struct actor *a = HOLDER(s, 1, .handoffs = 2);
  struct actor *b = ACQUIRE(s, .handoffs = 2, .kazoo = true);
  struct actor *c = ACQUIRE(s, .handoffs = 2);
  release(a);
  HEARD(b, "");
  HEARD(c, "");
  happens(s, "remove 1");
  CHECK_TEXT("entering", state_of(b));
  CHECK_TEXT("parked", state_of(c));
}

STORY("does not pass a node on without a lease") {
  struct actor *a = HOLDER(s, 1, .handoffs = 2), *b = ACQUIRE(s, .handoffs = 2);
  stops_for(s, 9500);
  release(a);
  HEARD(b, "");
}

STORY("does not pass a node on that others ask for") {
  struct actor *a = HOLDER(s, 1, .handoffs = 2), *b = ACQUIRE(s, .handoffs = 2);
  passes(s, 2000);
  asks_to_let_go(s);
  HEARS(a, "get 1", "revoked");
  release(a);
  HEARD(b, "");
  SENDS(s, "deleted 1, remove 1", "create lock, list");
}

STORY("does not look around where the last list has shown who waits") {
  struct actor *a = ACQUIRE(s, .handoffs = 2);
  HEARS(a, "create lock: 1, list: 1 2", "granted");
  looks_around(a);
  SENT(s, "");
}

STORY("looks around again in the next connection") {
  struct actor *a = HOLDER(s, 1, .handoffs = 2);
  looks_around(a);
  HEARS(a, "list and watch: 1", "alone");
  HEARS(a, "disconnects", "company");
  HEARS(a, "connects, get 1, list and watch: 1", "alone");
}

STORY("looks around for nobody who does not hold") {
  struct actor *a = WAITER(s, .handoffs = 2);
  looks_around(a);
  SENT(s, "");
  disconnects(s);
  looks_around(a);
  HEARD(a, "");
}

STORY(
    "tells a holder that looks around that nobody waits, until somebody may") {
  struct actor *a = HOLDER(s, 1, .handoffs = 2);
  looks_around(a);
  SENT(s, "list and watch");
  HEARS(a, "list and watch: 1", "alone");
  looks_around(a); /* it does */
  SENT(s, "");
  HEARS(a, "children /lock", "company");
  happens(s, "list and watch: 1"); /* who came has gone again */
  HEARD(a, "alone");
  HEARS(a, "children /lock, list and watch: 1 2", "company");
  happens(s, "unwatch children");
  release(a);
  SENDS(s, "remove 1", "");
}
