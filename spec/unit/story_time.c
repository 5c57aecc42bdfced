/* Time: renewals, deadlines, what is given up, and what is asked for again. */
#include "stage.h"

ABOUT("The protocol, as time passes,");

STORY("asks an extra question when an answer takes a quarter of a second") {
  heartbeats_by_hand(s, true);
  ACQUIRE(s);
  SENT(s, "create lock, list");
  SENDS(s, "249 ms", "");
  SENDS(s, "1 ms", "ping");
  SENDS(s, "1000 ms", ""); /* one at a time */
  happens(s, "create lock: 1, list: 1, ping");
}

STORY("sends renewals often while somebody holds, seldom while nobody wants") {
  CHECK_INT(3000, pace(s));
  struct actor *a = WAITER(s);
  CHECK_INT(1667, pace(s)); /* a sixth */
  HEARS(a, "deleted 1", "granted");
  CHECK_INT(917, pace(s)); /* about an eleventh */
}

/* Renewals are 0.3 T apart. */
STORY("shortens T at an attempt, though the credentials were not accepted") {
  expires(s);
  is_greeted(s, 1, 20000);
  attempts(s); /* a server may grant as little as in the session before */
  connects_anew(s);
  CHECK_INT(3000, pace(s));
}

STORY("forgets a session that was not accepted when another is granted") {
  expires(s);
  is_greeted(s, 2, 5000);
  is_greeted(s, 1, 20000);
  connects_anew(s);
  CHECK_INT(6000, pace(s));
}

STORY("sends a holder's renewal on time while another contender pauses",
      .timeout = 1000) {
  HOLDER(s, 1, .path = "/other");
  ACQUIRE(s);
  SENT(s, "create lock, list");
  happens(s, "create lock: 2, list: 1w 2, look at 1: theirs 1001");
  heartbeats_by_hand(s, true);
  SENDS(s, "91 ms", "");
  SENDS(s, "2 ms", "heartbeat");
}

STORY("refuses a permit at its deadline, wherever it waits") {
  struct actor *in = ACQUIRE(s, .lock = PERMIT, .within = 3000);
  HEARS(in, "create lock: 7, list: 7, create permit: 2", "");
  struct actor *out = ACQUIRE(s, .lock = PERMIT, .within = 3000);
  happens(s, "list: 1p 2, create lock: 8, list: 7 8, 3000 ms");
  HEARD(in, "refused: timeout");
  HEARD(out, "refused: timeout, removed");
  SENT(s, "get 2, list and watch, get 8, get 7, remove 2, remove 7, remove 8");
  happens(s, "get 2, list and watch: 1p 2, get 8, get 7, remove 2, remove 7");
  HEARS(in, "remove 8", "removed, forgotten");
  HEARD(out, "forgotten");
}

STORY("asks for a session at once after one that has lived, each time") {
  for (int i = 0; i < 6; i++) {
    happens(s, "expires, 1 ms");
    CHECK(wants_session(s));
    happens(s, "connects anew, 60000 ms");
  }
}

STORY("gives a session up that only its own attempts keep alive") {
  struct actor *a = HOLDER(s, 1);
  release(a);
  happens(s, "disconnects, 14999 ms");
  CHECK(!is_beyond_help(s));
  passes(s, 1);
  CHECK(is_beyond_help(s));
}

STORY("looks again, after a timeout, whether its numbers have come to an end") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 2147483000, list: 2147483000, remove 2147483000");
  happens(s, "look at /lock");
  for (int i = 0; i < 101; i++) happens(s, "remove /lock: not empty, 100 ms");
  SENT(s, "create lock, list");
  happens(s, "create lock: 8"); /* somebody has made the directory anew */
  HEARS(a, "list: 8", "granted");
}
