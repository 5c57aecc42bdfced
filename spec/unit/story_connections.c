/* Connections, sessions, and the end of both. */
#include "stage.h"

ABOUT("The protocol, as connections come and go,");

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
