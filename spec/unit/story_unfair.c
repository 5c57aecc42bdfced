/* The unfair lock: `holder`, which has one name for all, and our own node
 * beside it: one transaction makes both, and one deletes both. */
#include "stage.h"

ABOUT("The protocol, for an unfair lock,");

#define CREATES "create holder with hold"

static struct actor *holds(struct stage *s) {
  struct actor *a = ACQUIRE(s, .lock = UNFAIR);
  HEARS(a, "create holder with hold: 1, get holder", "granted");
  return a;
}

STORY("loses an unfair lock whose node its session has made once more") {
  struct actor *a = holds(s);
  /* by an earlier request, which came late */
  HEARS(a, "reconnects, get holder: ours 77", "lost: node_deleted");
  HEARS(a, "ask about 1, remove 1", "removed, forgotten");
}

TEST("tries at once each time when another's unfair node goes, hidden or not") {
  for (int hidden = 0; hidden < 2; hidden++) {
    struct stage *s = BEGIN();
    ACQUIRE(s, .lock = UNFAIR);
    for (int i = 0; i < 8; i++) {
      happens(s, CREATES ": exists, get holder: %s",
              hidden ? "no auth, 1667 ms, get holder: no node"
                     : "theirs 900, deleted holder");
      SENT(s, CREATES ", get holder");
    }
    END(s);
  }
}

TEST("leaves another's node of its name alone, though `holder` is ours") {
  static const char *const shown[] = {"theirs 1007", "ours 77", "no node",
                                      "no auth"};
  for (int i = 0; i < 4; i++) {
    struct stage *s = BEGIN();
    struct actor *a = ACQUIRE(s, .lock = UNFAIR);
    made_unheard(s, 7);
    happens(s, "reconnects, list: 7h, get holder, ask about 7: %s", shown[i]);
    HEARD(a, "");
    happens(s, "unwatch holder, list: 7h");
    SENT(s, CREATES ", get holder");
    END(s);
  }
}

STORY("asks again about the node beside `holder` where it was not told") {
  struct actor *a = ACQUIRE(s, .lock = UNFAIR);
  made_unheard(s, 7);
  HEARS(a, "reconnects, list: 7h, get holder, ask about 7: throttled", "");
  SENDS(s, "100 ms", "get holder");
  HEARS(a, "get holder, ask about 7", "granted");
}

STORY("deletes both nodes of an unfair lock that a server makes late") {
  struct actor *a = ACQUIRE(s, .lock = UNFAIR);
  made_unheard(s, 7);
  happens(s, "reconnects, list: nobody"); /* it is not there yet */
  happens(
      s, CREATES
      ": exists, get holder"); /* of this session, and of nothing that it wants */
  SENT(s, "list");
  SENDS(s, "list: 7h, ask about 7, ask about holder", "remove holder with 7");
  happens(s, "deleted holder, remove holder with 7");
  SENT(s, CREATES ", get holder");
  HEARD(a, "");
}

STORY("lets one of a session at a time want an unfair node") {
  struct actor *a = ACQUIRE(s, .lock = UNFAIR);
  struct actor *b = ACQUIRE(s, .lock = UNFAIR, .within = 1000);
  HEARS(a, "create holder with hold: 1, get holder", "granted");
  SENT(s, "");
  HEARS(b, "1000 ms", "refused: timeout, removed, forgotten");
}

STORY("looks before it deletes an unfair node that its owner has not found") {
  struct actor *a = holds(s);
  sees_deletion(a);
  HEARD(a, "lost: node_deleted");
  SENT(s, "get holder");
  HEARS(a, "get holder: theirs 900, remove 1", "removed, forgotten");
}
