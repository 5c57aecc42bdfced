/* Vigils: who waits for what becomes of a node, and has none there. */
#include "stage.h"

ABOUT("The protocol, for whoever waits and contends for nothing,");

/* One that waits for the end of "/gate", which it has seen. */
static struct actor *watchman(struct stage *s, struct hope hope) {
  struct actor *a = await(s, hope);
  stage_hears(a, "get /gate: theirs 7", "");
  stage_sends(s, "", "");
  return a;
}

STORY("waits until the node that it has seen is deleted") {
  struct actor *a = watchman(s, (struct hope){0});
  HEARS(a, "100000 ms", "");
  SENT(s, "");
  HEARS(a, "deleted /gate", "met");
  SENT(s, "");
  CHECK_INT(0, counted(s, "watches"));
}

STORY("asks again a little later where it could not ask") {
  cannot_send(s, true);
  struct actor *a = AWAIT(s);
  cannot_send(s, false);
  SENT(s, "");
  HEARS(a, "100 ms, get /gate: throttled", "");
  HEARS(a, "100 ms, get /gate: theirs 7, deleted /gate", "met");
}

STORY("asks again where it could not ask about what another watches already") {
  struct actor *a = watchman(s, (struct hope){0});
  for (int proves = 0; proves < 2; proves++) {
    cannot_send(s, true);
    struct actor *b = AWAIT(s, .proves = proves, .tries = true);
    cannot_send(s, false);
    HEARS(b, "100 ms, get /gate: theirs 7", "refused: timeout");
    b = AWAIT(s, .proves = proves, .tries = true);
    HEARS(b, "get /gate: throttled", "");
    HEARS(b, "100 ms, get /gate: theirs 7", "refused: timeout");
  }
  cancel(a);
  HEARD(a, "refused: cancelled");
}

STORY("looks again after the end of a node that it has not seen") {
  struct actor *a = watchman(s, (struct hope){0});
  struct actor *b = AWAIT(s);
  SENT(s, "get /gate");
  happens(s, "deleted /gate"); /* it may have been before `b` began */
  HEARD(a, "met");
  HEARS(b, "get /gate: theirs 8", "");
  HEARS(b, "deleted /gate", "met");
}

/* Proofs. */

STORY("asks behind a committed round that was sent after it had begun") {
  rounds_by_hand(s, true);
  struct actor *a = AWAIT(s, .proves = true);
  SENT(s, "round, get /gate");
  struct actor *b = AWAIT(s, .proves = true); /* waits for the next */
  SENT(s, "");
  SENDS(s, "round", "round");
  HEARS(a, "get /gate: no node", "met");
  HEARD(b, "");
  SENT(s, "get /gate");
  HEARS(b, "round, get /gate: no node", "met");
}

STORY("proves nothing while a server has put its look off") {
  rounds_by_hand(s, true);
  struct actor *a = AWAIT(s, .proves = true);
  SENT(s, "round, get /gate");
  happens(s, "round, get /gate: throttled");
  struct actor *b = AWAIT(s, .path = "/gate", .proves = true);
  SENT(s, "");
  SENDS(s, "100 ms", "round, get /gate");
  HEARS(a, "round, get /gate: no node", "met");
  HEARD(b, "met");
}

STORY("proves anew where the answer to its round was lost") {
  rounds_by_hand(s, true);
  struct actor *a = AWAIT(s, .proves = true);
  SENT(s, "round, get /gate");
  SENDS(s, "reconnects", "round");
  SENDS(s, "round", "round, get /gate");
  happens(s, "round");
  passes(s, 200); /* nothing is to be tried again */
  SENT(s, "");
  HEARS(a, "get /gate: no node", "met");
}

/* Until it is there. */

STORY("waits until a node is there, and hears of its making") {
  struct actor *a = AWAIT(s, .until = THERE);
  HEARS(a, "exists /gate: no node", "");
  SENT(s, "");
  happens(s, "changed /gate"); /* it was made */
  HEARD(a, "");
  HEARS(a, "exists /gate: theirs 7", "met");
  happens(s, "unwatch /gate");
}

/* Its end, if it is another one. */

STORY("ends with the first answer if it does not wait") {
  struct actor *a = AWAIT(s, .tries = true);
  HEARS(a, "get /gate: theirs 7", "refused: timeout");
  happens(s, "unwatch /gate");
  a = AWAIT(s, .tries = true);
  HEARS(a, "get /gate: no node", "met");
  a = AWAIT(s, .until = THERE, .tries = true);
  HEARS(a, "exists /gate: no node", "refused: timeout");
  happens(s, "unwatch /gate");
  a = AWAIT(s, .until = THERE, .tries = true);
  HEARS(a, "exists /gate: theirs 7", "met");
}

STORY("calls a deadline without a connection a disconnection") {
  struct actor *a = watchman(s, (struct hope){.within = 3000});
  HEARS(a, "disconnects, 3000 ms", "refused: disconnected");
  SENDS(s, "connects", "");
}

STORY("ends where credentials are refused, and does not begin there") {
  struct actor *a = watchman(s, (struct hope){0});
  refuses_credentials(s);
  HEARD(a, "refused: auth");
  CHECK_INT(REASON_CREDENTIALS, reason_of(a));
  a = AWAIT(s);
  HEARD(a, "refused: auth");
  CHECK_INT(REASON_CREDENTIALS, reason_of(a));
  SENDS(s, "connects", "");
  a = AWAIT(s);
  SENT(s, "get /gate");
  HEARD(a, "");
}

STORY("does not begin without memory") {
  for (int i = 0; i < 3; i++) CHECK(!AWAIT(s, .forgetful = true, .spared = i));
  CHECK(!AWAIT(s, .until = CROWD, .forgetful = true));
  SENT(s, "");
  CHECK_INT(0, counted(s, "watches"));
}

STORY("asks a little later where there was no memory to ask") {
  together(s);
  struct actor *a = AWAIT(s);
  memory_refuse(1);
  apart(s);
  memory_refuse(0);
  SENT(s, "");
  HEARS(a, "100 ms, get /gate: no node", "met");
}

/* Crowds. */

STORY("waits until a directory has another number of contenders") {
  struct actor *a = AWAIT(s, .until = CROWD, .known = 2);
  SENT(s, "list and watch");
  HEARS(a, "list and watch: 1 2 noise", "");
  SENT(s, "");
  SENDS(s, "children /lock", "list and watch");
  happens(s, "list and watch: 2 3l"); /* as many: they are others */
  HEARD(a, "");
  HEARS(a, "children /lock, list and watch: 2 3l 4", "met");
  happens(s, "unwatch children");
}

STORY("looks for a missing directory a little later if there is no memory") {
  struct actor *a = AWAIT(s, .until = CROWD);
  memory_refuse(1);
  happens(s, "list and watch: no node");
  memory_refuse(0);
  SENT(s, "");
  SENDS(s, "100 ms, list and watch: no node", "exists /lock");
  HEARD(a, "");
}

STORY("lists again where the directory was made before it looked for that") {
  struct actor *a = AWAIT(s, .until = CROWD);
  HEARS(a, "list and watch: no node, exists /lock: theirs 7", "");
  SENT(s, "unwatch /lock, list and watch");
  HEARS(a, "unwatch /lock, list and watch: 1", "met");
}

STORY("waits on when the directory of nobody is deleted") {
  struct actor *a = AWAIT(s, .until = CROWD);
  /* as servers do it with empty containers */
  happens(s, "list and watch: nobody, deleted /lock, list and watch: no node");
  HEARS(a, "exists /lock: no node", "");
  SENT(s, "");
  HEARS(a, "reconnects, list and watch: no node, exists /lock: no node", "");
  cancel(a);
  HEARD(a, "refused: cancelled");
  happens(s, "unwatch /lock");
  CHECK_INT(0, counted(s, "watches"));
}

STORY("believes no list that was asked for before it had begun") {
  struct actor *a = ACQUIRE(s);
  SENDS(s, "create lock: 1", "list");
  struct actor *b = AWAIT(s, .until = CROWD, .known = 1);
  SENT(s, "list and watch");
  HEARS(a, "list: 1 2", "granted");
  HEARS(b, "list and watch: 1", "");
  HEARS(b, "children /lock, list and watch: 1 2", "met");
}

STORY("hears that nobody may list the directory") {
  struct actor *a = AWAIT(s, .until = CROWD, .known = 1);
  struct actor *b = AWAIT(s, .until = CROWD, .known = 2);
  HEARS(a, "list and watch: no auth", "refused: denied");
  HEARD(b, "refused: denied");
  CHECK_INT(REPLY_NO_AUTH, reason_of(a));
}

STORY("lists again where that has failed, or there was no memory for it") {
  struct actor *a = AWAIT(s, .until = CROWD, .known = 1);
  shows_without_memory(s);
  HEARS(a, "100 ms, list: throttled", "");
  HEARS(a, "100 ms, list: nobody", "met");
}
