/* Local turns: those of a session have one node at a time (io/claim.h passes it on),
 * and its holder hears whether any other is in the queue. */
#include "stage.h"

ABOUT("The protocol, with local turns,");

STORY("has one node at a time for those with handoffs") {
  struct actor *a = HOLDER(s, 1, .handoffs = 2);
  struct actor *b = ACQUIRE(s, .handoffs = 2), *c = ACQUIRE(s, .handoffs = 2);
  SENT(s, "");
  release(a);
  SENT(s, "remove 1");
  ACQUIRE(s, .handoffs = 2); /* while that is on its way, one more comes */
  CHECK_TEXT("entering", state_of(b));
  CHECK_TEXT("parked", state_of(c));
  SENT(s, "create lock, list");
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
