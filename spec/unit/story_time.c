/* Time: the lease, rounds, deadlines, a process that is stopped. */
#include "stage.h"

ABOUT("The protocol, as time passes,");

STORY("does not grant by a lease that would end before it is renewed") {
  struct actor *a = WAITER(s);
  passes(s, 20000);
  while (*oldest(s)) happens(s, "%s", oldest(s));
  rounds_by_hand(s, true);
  while (strcmp(oldest(s), "round") != 0) passes(s, 1);
  passes(s, 4200);
  rounds_by_hand(s, false); /* the silence ends */
  happens(s, "deleted 1");
  CHECK(lease_of(s) > 0);
  HEARD(a, "");
  for (int i = 0; i < 10000 && strcmp(state_of(a), "queued") == 0; i++) {
    if (strcmp(oldest(s), "list") == 0) happens(s, "list: 2");
    passes(s, 1);
  }
  HEARD(a, "granted");
  HEARS(a, "30000 ms", "");
}

STORY("waits for a list once the lease stands again, whatever else happens") {
  struct actor *a = WAITER(s);
  rounds_by_hand(s, true);
  stops_for(s, 20000);
  happens(s, "deleted 1");
  for (int i = 0; i < 100000 && lease_of(s) < 0; i++) {
    passes(s, 1);
    if (strcmp(sent(s), "round") != 0) continue;
    cannot_send(s, true); /* not the list, this time */
    happens(s, "round");
    cannot_send(s, false);
  }
  CHECK(lease_of(s) > 0);
  SENDS(s, "100 ms", "list");
  HEARD(a, "");
}

STORY("loses a hold in silence when its lease is over, and not before") {
  struct actor *a = HOLDER(s, 1);
  rounds_by_hand(s, true);
  int lease = lease_of(s);
  passes(s, lease - 1);
  HEARD(a, "");
  SHOWN(s, "");
  HEARS(a, "1 ms", "lost: silence");
  SHOWN(s, "suspended");
}

/* A server that refuses by itself has asked nobody. */
static const int refusals[] = {REPLY_NO_AUTH,   REPLY_NO_NODE,
                               REPLY_NOT_EMPTY, REPLY_NODE_EXISTS,
                               THROTTLED,       REPLY_UNIMPLEMENTED};
enum { REFUSALS = sizeof refusals / sizeof *refusals };

/* For so long the server answers each request as it comes: a heartbeat with
 * `round`, a create with `create`. */
static void refuses(struct stage *s, int milliseconds, int round, int create) {
  for (; milliseconds > 0; milliseconds--) {
    const char *next;
    passes(s, 1);
    while (*(next = oldest(s))) {
      char request[100];
      snprintf(request, sizeof request, "%s", next);
      if (strcmp(request, "round") == 0)
        happens(s, "%s: code %d", request, round);
      else if (strncmp(request, "create", 6) == 0)
        happens(s, "%s: code %d", request, create);
      else if (strcmp(request, "list") == 0)
        happens(s, "%s: no node", request);
      else
        happens(s, "%s", request);
    }
  }
}

TEST("takes no refusal of a heartbeat for a proof") {
  for (int i = 0; i < REFUSALS; i++) {
    struct stage *s = BEGIN();
    struct actor *a = HOLDER(s, 1);
    rounds_by_hand(s, true);
    happens(s, "2000 ms, round, ping, get 1");
    int lease = lease_of(s);
    refuses(s, lease - 1, refusals[i], 0);
    HEARD(a, "");
    refuses(s, 1, refusals[i], 0);
    HEARD(a, "lost: silence, removed, forgotten");
    END(s);
  }
}

STORY("shows a session connected again when it is heard after its silence") {
  struct actor *a = HOLDER(s, 1);
  rounds_by_hand(s, true);
  passes(s, 9500);
  SHOWN(s, "suspended");
  HEARD(a, "lost: silence");
  SENT(s, "round, ping, get 1, remove 1");
  happens(s, "round"); /* an old one: the lease does not stand by it */
  SHOWN(s, "");
  happens(s, "ping, get 1, deleted 1, remove 1");
  rounds_by_hand(s, false);
  passes(s, 20000);
  SHOWN(s, "connected"); /* once */
  HEARD(a, "removed, forgotten");
}

STORY("blames whichever was over first, the lease or max_hold") {
  struct actor *brief = HOLDER(s, 1, .max_hold = 3000);
  struct actor *other = HOLDER(s, 2, .path = "/other", .max_hold = 19000);
  stops_for(s, 20000);
  HEARS(brief, "1 ms", "lost: max_hold");
  HEARD(other, "lost: silence");
}

STORY("refuses at the deadline, with the one ahead") {
  others_say(s, "job 7");
  struct actor *a = WAITER(s, .within = 3000);
  HEARS(a, "2999 ms", "");
  HEARS(a, "1 ms", "refused: timeout");
  CHECK_TEXT("job 7, who holds", rival_of(a));
  CHECK_INT(1, counted(s, "timeouts"));
  SENT(s, "unwatch 1, remove 2");
}

STORY("lets the grant win over a deadline that comes with it") {
  struct actor *a = WAITER(s, .within = 3000);
  together(s);
  stops_for(s, 3000);
  happens(s, "deleted 1");
  apart(s);
  HEARD(a, "granted");
}

STORY("asks an extra question when an answer takes a quarter of a second") {
  rounds_by_hand(s, true);
  ACQUIRE(s);
  SENT(s, "create lock, list");
  SENDS(s, "249 ms", "");
  SENDS(s, "1 ms", "ping");
  SENDS(s, "1000 ms", ""); /* one at a time */
  happens(s, "create lock: 1, list: 1, ping");
}

STORY("sends rounds often while somebody holds, seldom while nobody wants") {
  CHECK_INT(3000, pace(s));
  struct actor *a = WAITER(s);
  CHECK_INT(1667, pace(s)); /* a sixth */
  HEARS(a, "deleted 1", "granted");
  CHECK_INT(917, pace(s)); /* about an eleventh */
}

STORY("proves by its rounds a lease of half of T or more while it holds") {
  HOLDER(s, 1);
  happens(s, "2000 ms, get 1");
  for (int i = 0; i < 10000; i++) {
    passes(s, 1);
    CHECK(i < 5000 || lease_of(s) > 4900);
    CHECK(i < 5000 || lease_of(s) < 5900);
  }
}
