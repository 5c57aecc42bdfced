/* Connections, sessions, and the end of both. */
#include "stage.h"

ABOUT("The protocol, as connections come and go,");

STORY("asks for its first session when it is opened, and not before",
      .apart = true) {
  passes(s, 1000);
  CHECK(!wants_session(s));
  opens(s);
  CHECK(wants_session(s));
  passes(s, 1000);
  CHECK(!wants_session(s));
}

STORY("takes another session's id for the end of its own") {
  struct actor *a = HOLDER(s, 1), *b = ACQUIRE(s);
  happens(s, "create lock: 2, disconnects, connects anew");
  HEARD(a, "lost: session_closed, removed, forgotten");
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
