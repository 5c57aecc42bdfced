/* Connections, sessions, and the end of both. */
#include "stage.h"

ABOUT("The protocol, as connections come and go,");

STORY("asks for nothing in a reconnection until a quorum has answered in it") {
  struct actor *a = WAITER(s);
  disconnects(s);
  rounds_by_hand(s, true);
  connects(s);
  for (int i = 0; i < 3; i++) {
    SENT(s, "round");
    happens(s, "round: %s", i % 2 ? "no auth" : "throttled");
    SENT(s, "");
    CHECK_TEXT("queued", state_of(a));
    for (int j = 0; j < 100 && !*oldest(s); j++) passes(s, 10);
  }
  HEARS(a, "round, list: 1 2, get 2, get 1", "");
}

STORY("keeps a hold through a reconnection, and looks at its node") {
  struct actor *a = HOLDER(s, 1);
  disconnects(s);
  SHOWN(s, "suspended");
  happens(s, "1000 ms, connects");
  SHOWN(s, "connected");
  HEARS(a, "get 1", "");
}

STORY("ignores an answer that comes after its connection") {
  struct actor *a = ACQUIRE(s);
  reconnects(s);
  late_answer(s, 1, REPLY_NO_AUTH);
  HEARD(a, "");
  CHECK_TEXT("finding", state_of(a));
}

STORY("cuts the lease to what an attempt that is lost may have been granted",
      .least = 4000) {
  struct actor *a = HOLDER(s, 1);
  CHECK_INT(9500, lease_of(s));
  disconnects(s);
  attempts(s);
  CHECK_INT(3800, lease_of(s));
  HEARS(a, "3800 ms", "lost: silence");
}

STORY("loses at once what shall not outlive a connection") {
  struct actor *a = HOLDER(s, 1, .loses_soon = true);
  HEARS(a, "disconnects", "lost: suspended");
  HEARS(a, "connects, ask about 1, remove 1", "removed, forgotten");
}

/* All that can be asked for without a wait. */
static void is_told_at_once(struct stage *s) {
  static const enum lock kinds[] = {MUTEX,  READER, WRITER,
                                    PERMIT, UNFAIR, MEMBER};
  static const enum hoped hopes[] = {GONE, THERE, CROWD};
  for (int i = 0; i < 6; i++) {
    struct actor *a = ACQUIRE(s, .lock = kinds[i], .tries = true);
    HEARD(a, "refused: disconnected, removed, forgotten");
  }
  for (int i = 0; i < 3; i++) {
    struct actor *a = AWAIT(s, .until = hopes[i], .tries = true);
    HEARD(a, "refused: disconnected");
    a = AWAIT(s, .until = hopes[i], .proves = true, .tries = true);
    HEARD(a, "refused: disconnected");
  }
}

STORY("refuses who does not wait when there is no connection") {
  struct actor *before = ACQUIRE(s, .tries = true);
  struct actor *vigil = AWAIT(s, .tries = true);
  struct actor *onlooker = AWAIT(s, .until = CROWD, .tries = true);
  HEARS(before, "disconnects", "refused: disconnected");
  HEARD(vigil, "refused: disconnected");
  HEARD(onlooker, "refused: disconnected");
  is_told_at_once(s);
}

STORY("refuses one that does not wait while no server is heard") {
  struct actor *a = HOLDER(s, 1, .path = "/other");
  stops_for(s, 9500);
  sees_silence(a);
  HEARD(a, "lost: silence");
  SHOWN(s, "suspended");
  is_told_at_once(s);
}

STORY("asks for its first session when it is opened, and not before",
      .apart = true) {
  passes(s, 1000);
  CHECK(!wants_session(s));
  opens(s);
  CHECK(wants_session(s));
  passes(s, 1000);
  CHECK(!wants_session(s));
}

STORY("loses everything at an expiry; who waits begins again") {
  struct actor *holds = HOLDER(s, 1, .path = "/other"), *waits = WAITER(s);
  struct actor *leaves = HOLDER(s, 3, .path = "/third");
  release(leaves);
  happens(s, "disconnects, 9500 ms"); /* the lease is over */
  HEARD(holds, "lost: silence");
  expires(s);
  SHOWN(s, "suspended, expired");
  HEARD(holds, "removed, forgotten");
  HEARD(leaves, "removed, forgotten");
  HEARD(waits, "");
  passes(s, 1);
  CHECK(wants_session(s));
  SENDS(s, "connects anew", "create lock, list");
  HEARS(waits, "create lock: 5, list: 5", "granted");
  CHECK_INT(1, counted(s, "expiries"));
}

STORY("takes another session's id for the end of its own") {
  struct actor *a = HOLDER(s, 1), *b = ACQUIRE(s);
  happens(s, "create lock: 2, disconnects, connects anew");
  HEARD(a, "lost: closed, removed, forgotten");
  HEARD(b, "");
  SENT(s, "create lock, list");
}

STORY("asks for new sessions at a pace that slows down") {
  int asked = 0;
  for (int i = 0; i < 8; i++) {
    happens(s, "expires, 1 ms");
    asked += wants_session(s);
  }
  CHECK_INT(1, asked);
  passes(s, 2000);
  CHECK(wants_session(s));
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

STORY("does not give a session up before its holds have ended") {
  struct actor *a = HOLDER(s, 1), *b = HOLDER(s, 2, .path = "/other");
  release(a);
  disconnects(s);
  stops_for(s, 60000);
  CHECK(!is_beyond_help(s));
  HEARS(b, "1 ms", "lost: silence");
  CHECK(is_beyond_help(s));
}

STORY("does not give a session up that has nothing to delete") {
  struct actor *a = WAITER(s);
  happens(s, "disconnects, 60000 ms");
  CHECK(!is_beyond_help(s));
  HEARD(a, "");
}

STORY("tells everybody when the session is closed") {
  struct actor *holds = HOLDER(s, 1, .path = "/other"), *waits = WAITER(s);
  struct actor *leaves = HOLDER(s, 3, .path = "/third");
  release(leaves);
  struct actor *asks = ACQUIRE(s);
  struct actor *permit = ACQUIRE(s, .lock = PERMIT, .path = "/permits");
  close_session(s);
  SHOWN(s, "closed");
  HEARD(holds, "lost: closed, removed, forgotten");
  HEARD(waits, "refused: closed, removed, forgotten");
  HEARD(asks, "refused: closed, removed, forgotten");
  HEARD(permit, "refused: closed, removed, forgotten");
  HEARD(leaves, "removed, forgotten");
}
