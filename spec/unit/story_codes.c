/* Codes: what ZooKeeper's numbers mean for each request.  A server that says *not
 * now* is asked again, after pauses that grow, until the deadline; what it will
 * never do is refused at once, by the code that says why. */
#include "stage.h"

ABOUT("The protocol, told ZooKeeper's codes,");

enum { QUOTA = REPLY_QUOTA_EXCEEDED, UNFORESEEN = -130 };

static const int transient[] = {THROTTLED, QUOTA};

/* Codes that refuse for good, and the word for each. */
static const struct {
  int rc;
  const char *told;
} final[] = {
    {REPLY_NO_AUTH, "refused: denied, removed, forgotten"},
    {REPLY_AUTH_FAILED, "refused: auth, removed, forgotten"},
    {REPLY_AUTH_REQUIRED, "refused: auth, removed, forgotten"},
    {REPLY_INVALID_ACL, "refused: invalid, removed, forgotten"},
    {REPLY_BAD_ARGUMENTS, "refused: invalid, removed, forgotten"},
    {REPLY_UNIMPLEMENTED, "refused: invalid, removed, forgotten"},
    {REPLY_NO_CHILDREN_FOR_EPHEMERALS, "refused: invalid, removed, forgotten"},
    {-120, "refused: invalid, removed, forgotten"}, /* local sessions */
    {UNFORESEEN, "refused: invalid, removed, forgotten"},
};

enum { TRANSIENT = sizeof transient / sizeof *transient };
enum { FINAL = sizeof final / sizeof *final };

TEST("creates again where a server says not now, and is granted") {
  for (int i = 0; i < TRANSIENT; i++) {
    struct stage *s = BEGIN();
    struct actor *a = ACQUIRE(s);
    happens(s, "create lock: code %d", transient[i]);
    HEARS(a, "list: nobody", "");
    SENT(s, "");
    CHECK(passes_until_asked(s, 100) >= 50);
    SENT(s, "create lock, list");
    HEARS(a, "create lock: 1, list: 1", "granted");
    END(s);
  }
}

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

STORY("begins with a short pause again once a create was made") {
  struct actor *a = ACQUIRE(s);
  for (int i = 0; i < 6; i++) {
    happens(s, "create lock: throttled, list: nobody");
    passes_until_asked(s, 2000);
  }
  HEARS(a, "create lock: 1, list: 1", "granted");
  ACQUIRE(s);
  happens(s, "create lock: throttled, list: 1");
  CHECK(passes_until_asked(s, 100) >= 50);
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
  for (int i = 0; i < TRANSIENT; i++) {
    struct stage *s = BEGIN();
    struct actor *a = ACQUIRE(s, .within = 900);
    for (int passed = 0; passed < 900; passed++) {
      if (is_asked(s)) {
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

STORY("takes no reason for a timeout that has passed") {
  struct actor *a = ACQUIRE(s, .within = 900);
  happens(s, "create lock: throttled, list: nobody, 100 ms, create lock: 2");
  HEARS(a, "list: 1 2, get 2, get 1, 800 ms", "refused: timeout");
  CHECK_INT(0, reason_of(a));
}

TEST("asks once for what is free, and is told that there is no time") {
  for (int i = 0; i < TRANSIENT; i++) {
    struct stage *s = BEGIN();
    struct actor *a = ACQUIRE(s, .tries = true);
    happens(s, "create lock: code %d", transient[i]);
    HEARD(a, "refused: timeout, removed, forgotten");
    CHECK_INT(transient[i], reason_of(a));
    struct actor *b = ACQUIRE(s, .tries = true); /* during the pause */
    SENT(s, "list, create lock, list");
    HEARS(b, "list: nobody, create lock: 1, list: 1", "granted");
    END(s);
  }
}

TEST("refuses a create for good by the code that says why") {
  for (int i = 0; i < FINAL; i++) {
    struct stage *s = BEGIN();
    struct actor *a = ACQUIRE(s);
    happens(s, "create lock: code %d", final[i].rc);
    HEARD(a, final[i].told);
    CHECK_INT(final[i].rc, reason_of(a));
    END(s);
  }
}

STORY("lists again, after a growing pause, where a server says not now") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 1");
  for (int longest = 100; longest <= 800; longest *= 2) {
    SENDS(s, "list: throttled", "");
    CHECK(passes_until_asked(s, longest) >= longest / 2);
  }
  HEARS(a, "list: 1", "granted");
}

TEST("refuses waiters by a list's code where that is for good") {
  static const struct {
    int rc;
    const char *told;
  } refusals[] = {{REPLY_NO_AUTH, "refused: denied"},
                  {REPLY_INVALID_ACL, "refused: invalid"},
                  {REPLY_UNIMPLEMENTED, "refused: invalid"},
                  {UNFORESEEN, "refused: invalid"}};
  for (int i = 0; i < 4; i++) {
    struct stage *s = BEGIN();
    struct actor *a = ACQUIRE(s);
    happens(s, "create lock: 1");
    happens(s, "list: code %d", refusals[i].rc);
    HEARD(a, refusals[i].told);
    SENT(s, "remove 1");
    END(s);
  }
}

TEST("makes a directory again where a server says not now") {
  for (int i = 0; i < TRANSIENT; i++) {
    struct stage *s = BEGIN();
    struct actor *a = ACQUIRE(s);
    happens(s, "create lock: no node, list: no node");
    for (int longest = 100; longest <= 400; longest *= 2) {
      happens(s, "mkdir /lock: code %d", transient[i]);
      HEARD(a, "");
      CHECK(passes_until_asked(s, longest) >= longest / 2);
    }
    HEARS(a, "mkdir /lock, create lock: 1, list: 1", "granted");
    END(s);
  }
}

STORY("rehearses again where a server says not now", .doubts_acl = true) {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: no node, list: no node, rehearse /lock: throttled");
  HEARD(a, "");
  CHECK(passes_until_asked(s, 100) >= 50);
  HEARS(a, "rehearse /lock, mkdir /lock, create lock: 1, list: 1", "granted");
}

STORY("is denied where the ACL of what it makes would shut it out",
      .doubts_acl = true) {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: no node, list: no node");
  happens(s, "rehearse /lock: code %d", REASON_ACL);
  HEARD(a, "refused: denied, removed, forgotten");
}

STORY("who does not wait is told where a directory is not made for now") {
  struct actor *a = ACQUIRE(s, .tries = true);
  happens(s, "create lock: no node, list: no node, mkdir /lock: throttled");
  HEARD(a, "refused: timeout, removed, forgotten");
  CHECK_INT(THROTTLED, reason_of(a));
}

STORY("watches again, after growing pauses, where a server says not now") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 2, list: 1 2, get 2");
  for (int longest = 100; longest <= 800; longest *= 2) {
    SENDS(s, "get 1: throttled", "");
    CHECK(passes_until_asked(s, longest) >= longest / 2);
  }
  HEARS(a, "get 1, deleted 1", "granted");
}

STORY("takes a watch away again where a server says not now") {
  struct actor *a = WAITER(s);
  cancel(a);
  happens(s, "unwatch 1: throttled, deleted 2, remove 2");
  CHECK_INT(1, counted(s, "watches"));
  CHECK(passes_until_asked(s, 100) >= 50);
  happens(s, "unwatch 1: throttled");
  CHECK(passes_until_asked(s, 200) >= 100);
  happens(s, "unwatch 1");
  CHECK_INT(0, counted(s, "watches"));
}

STORY("does not trust a watch that may have fired as it was left") {
  struct actor *a = WAITER(s);
  cancel(a);
  happens(s, "deleted 1"); /* before the server has seen that it is unwanted */
  happens(s, "unwatch 1: throttled, deleted 2, remove 2");
  struct actor *b = ACQUIRE(s);
  /* somebody's node of the same name */
  happens(s, "create lock: 4, list: 1 4");
  passes_until_asked(s, 100);
  SENT(s, "get 4, get 1");
  HEARS(b, "get 4, get 1, deleted 1", "granted");
}

STORY("takes the watch of children away again where a server says not now") {
  struct actor *a = ACQUIRE(s, .watches_parent = true);
  SENDS(s, "create lock: 2, list: 1 2, get 2", "list and watch");
  happens(s, "list and watch: 1 2");
  cancel(a);
  happens(s, "unwatch children: throttled, deleted 2, remove 2");
  HEARD(a, "refused: cancelled, removed, forgotten");
  CHECK(passes_until_asked(s, 100) >= 50);
  happens(s, "unwatch children: throttled");
  CHECK(passes_until_asked(s, 200) >= 100);
  SENDS(s, "unwatch children, 5000 ms", "");
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

STORY("keeps its deadline while its node cannot be deleted to begin again") {
  struct actor *a = ACQUIRE(s, .within = 1000);
  /* at the end of the directory's counter */
  happens(s, "create lock: 2147483000, list: 2147483000");
  for (int passed = 0; passed < 999; passed++) {
    if (is_asked(s)) happens(s, "remove 2147483000: throttled");
    passes(s, 1);
  }
  HEARD(a, "");
  HEARS(a, "1 ms", "refused: timeout");
}

STORY("begins a directory anew where a server says not now") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 2147483000, list: 2147483000, remove 2147483000");
  happens(s, "look at /lock: throttled");
  CHECK(passes_until_asked(s, 100) >= 50);
  happens(s, "look at /lock");
  happens(s, "remove /lock: code %d", QUOTA);
  HEARD(a, "");
  CHECK(passes_until_asked(s, 200) >= 50);
  SENDS(s, "remove /lock", "create lock, list");
}

TEST("makes `ready` again where a server says not now") {
  for (int i = 0; i < TRANSIENT; i++) {
    struct stage *s = BEGIN();
    struct actor *a = ACQUIRE(s, .lock = MEMBER);
    happens(s, "create member: 1, exists ready: no node, list: 1, get 1");
    happens(s, "mkdir ready for all: code %d", transient[i]);
    HEARD(a, "");
    CHECK(passes_until_asked(s, 100) >= 50);
    HEARS(a, "changed ready, mkdir ready for all", "granted");
    END(s);
  }
}

STORY("leaves a double barrier where a server says not now, a little later") {
  rounds_by_hand(s, true);
  struct actor *a = holder(s, (struct wish){.lock = MUTEX}, 2);
  struct actor *d = DEPART(a);
  SENT(s, "round, list all of /lock");
  HEARS(d, "round: throttled, list all of /lock: 2", "");
  CHECK(passes_until_asked(s, 100) >= 50);
}

STORY("waits at a barrier until a server proves what it shows") {
  rounds_by_hand(s, true);
  struct actor *a = AWAIT(s, .proves = true);
  SENT(s, "round, get /gate");
  HEARS(a, "round: throttled, get /gate: no node", "");
  CHECK(passes_until_asked(s, 100) >= 50);
  SENT(s, "round, get /gate");
  HEARS(a, "round, get /gate: no node", "met");
}

STORY("deletes and makes by themselves where both are refused for now") {
  struct actor *a = HOLDER(s, 1, .handoffs = 0), *b = ACQUIRE(s);
  happens(s, "create lock: 2, list: 1 2, get 2, get 1");
  together(s);
  release(a);
  struct actor *c = ACQUIRE(s);
  apart(s);
  SENT(s, "remove 1, create lock, list");
  HEARS(b, "remove 1: throttled, create lock: throttled, list: 1 2", "");
  HEARD(c, "");
}

STORY("tells all who wait that the servers want credentials, and which code") {
  struct actor *a = WAITER(s);
  wants_credentials(s);
  HEARD(a, "refused: auth");
  CHECK_INT(REPLY_AUTH_REQUIRED, reason_of(a));
  struct actor *b = ACQUIRE(s);
  HEARD(b, "refused: auth, removed, forgotten");
  CHECK_INT(REPLY_AUTH_REQUIRED, reason_of(b));
}
