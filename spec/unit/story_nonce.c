/* Nonces, when they are used no more. */
#include "stage.h"

ABOUT("The protocol, which has used a nonce,");

#define REMOVES "remove /gate-nonce-1-1"

STORY("deletes it first of all in each connection, until that is confirmed") {
  struct actor *a = await(s, false);
  happens(s, "get /gate: theirs 7");
  spends_nonce(s, "/gate");
  SENT(s, REMOVES);
  for (int i = 0; i < 2; i++) {
    reconnects(s);
    SENT(s, REMOVES ", get /gate");
  }
  happens(s, REMOVES ": no node");
  SENDS(s, "get /gate: theirs 7, reconnects", "get /gate");
  HEARS(a, "deleted /gate, get /gate: no node", "met");
}

STORY("deletes it in the next connection where there is none, or not now") {
  disconnects(s);
  spends_nonce(s, "/gate");
  connects(s);
  for (int i = 0; i < 20; i++) {
    happens(s, REMOVES ": throttled");
    passes(s, 3000);
    if (!*oldest(s)) break;
  }
  reconnects(s);
  SENT(s, REMOVES);
  happens(s, REMOVES);
  SENT(s, "");
}

STORY("leaves its end to that of its ZooKeeper session") {
  disconnects(s);
  spends_nonce(s, "/gate");
  SENDS(s, "expires, connects anew", "");
  spends_nonce(s, "/gate");
  SENT(s, "remove /gate-nonce-2-2");
}

STORY("gives it up where it may not be deleted") {
  spends_nonce(s, "/gate");
  happens(s, REMOVES ": no auth");
  SENDS(s, "reconnects", "");
}
