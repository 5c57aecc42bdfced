/* Codes: what ZooKeeper's numbers mean for each request.  A server that says *not
 * now* is asked again, after pauses that grow, until the deadline; what it will
 * never do is refused at once, by the code that says why. */
#include "stage.h"

ABOUT("The protocol, told ZooKeeper's codes,");

enum { QUOTA = REPLY_QUOTA_EXCEEDED, UNFORESEEN = -130 };

STORY("pauses longer after each refusal for now, and never for long") {
  struct actor *a = ACQUIRE(s);
  int longest = 100;
  for (int i = 0; i < 8; i++) {
    happens(s, "create lock: code %d", QUOTA);
    happens(s, "list: nobody");
    int pause = passes_until_asked(s, longest);
    CHECK(pause >= longest / 2);
    if (longest < 2000) longest *= 2;
    if (longest > 2000) longest = 2000;
  }
  HEARD(a, "");
  happens(s, "create lock: code %d",
          QUOTA); /* in another connection, at once */
  SENDS(s, "reconnects", "create lock, list");
  HEARS(a, "create lock: 1, list: 1", "granted");
}

STORY("sends no create while the pause lasts, whoever comes") {
  ACQUIRE(s);
  ACQUIRE(s);
  /* sent together: one refusal */
  happens(s, "create lock: throttled, list: nobody, create lock: throttled");
  happens(s, "list: nobody");
  ACQUIRE(s);
  SENT(s, "");
  CHECK(passes_until_asked(s, 100) >= 50);
  SENT(s, "create lock, create lock, create lock, list");
}

TEST("times out at its deadline, and says what kept it from waiting") {
  static const int transient[] = {THROTTLED, QUOTA};
  for (int i = 0; i < 2; i++) {
    struct stage *s = BEGIN();
    struct actor *a = ACQUIRE(s, .within = 900);
    for (int passed = 0; passed < 900; passed++) {
      if (*oldest(s)) {
        happens(s, "create lock: code %d", transient[i]);
        happens(s, "list: nobody");
      }
      passes(s, 1);
    }
    HEARD(a, "refused: timeout, removed, forgotten");
    CHECK_INT(transient[i], reason_of(a));
    CHECK_TEXT("cannot create a node /lock", denial_of(a));
    END(s);
  }
}

STORY("rehearses again where a server says not now", .acl_may_deny = true) {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: no node, list: no node, rehearse /lock: throttled");
  HEARD(a, "");
  CHECK(passes_until_asked(s, 100) >= 50);
  HEARS(a, "rehearse /lock, mkdir /lock, create lock: 1, list: 1", "granted");
}

STORY("who does not wait is told where a directory is not made for now") {
  struct actor *a = ACQUIRE(s, .tries = true);
  happens(s, "create lock: no node, list: no node, mkdir /lock: throttled");
  HEARD(a, "refused: timeout, removed, forgotten");
  CHECK_INT(THROTTLED, reason_of(a));
}

TEST("deletes until it is done, whatever a server says") {
  static const int codes[] = {THROTTLED, QUOTA, REPLY_AUTH_REQUIRED,
                              REPLY_UNIMPLEMENTED, UNFORESEEN};
  for (int i = 0; i < 5; i++) {
    struct stage *s = BEGIN();
    struct actor *a = HOLDER(s, 1);
    release(a);
    happens(s, "remove 1: code %d", codes[i]);
    HEARD(a, ""); /* not kept: no ACL has refused it */
    CHECK(passes_until_asked(s, 400) >= 100);
    HEARS(a, "remove 1", "removed, forgotten");
    END(s);
  }
}
