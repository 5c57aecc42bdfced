/* Vigils: who waits for what becomes of a node, and has none there. */
#include "memory.h"
#include "protocol/op.h"
#include "stage.h"

ABOUT("The protocol, for whoever waits and contends for nothing,");

/* One that waits for the end of "/gate", which it has seen. */
static struct actor *watchman(struct stage *s, struct hope hope) {
  struct actor *a = await(s, hope);
  stage_happens(s, "get /gate: theirs 7");
  test_compare_text("heard", "", heard(a));
  test_compare_text("sent", "", sent(s));
  return a;
}

STORY("does not wait where the node is not there") {
  struct actor *a = AWAIT(s);
  SENT(s, "get /gate");
  HEARD(a, "");
  HEARS(a, "get /gate: no node", "met");
  SENT(s, "");
  CHECK_INT(0, counted(s, "watches"));
}

STORY("waits until the node that it has seen is deleted") {
  struct actor *a = watchman(s, (struct hope){0});
  HEARS(a, "100000 ms", "");
  SENT(s, "");
  HEARS(a, "deleted /gate", "met");
  SENT(s, "");
  CHECK_INT(0, counted(s, "watches"));
}

STORY("does not mind that the node is written, and hears of its end still") {
  struct actor *a = watchman(s, (struct hope){0});
  HEARS(a, "changed /gate", "");
  HEARS(a, "get /gate: theirs 7", "");
  HEARS(a, "deleted /gate", "met");
}

STORY("waits on in the next connection, for the same node") {
  struct actor *a = watchman(s, (struct hope){0});
  HEARS(a, "disconnects, 3000 ms", "");
  SENDS(s, "connects", "get /gate");
  HEARS(a, "get /gate: theirs 7", "");
  HEARS(a, "deleted /gate", "met");
}

STORY("is met by another node in its place: it was gone for a moment") {
  struct actor *a = watchman(s, (struct hope){0});
  HEARS(a, "reconnects, get /gate: theirs 8", "met");
  happens(s, "unwatch /gate");
  CHECK_INT(0, counted(s, "watches"));
}

TEST("is met by a node that is gone in the next connection, or session") {
  for (int anew = 0; anew < 2; anew++) {
    struct stage *s = BEGIN();
    struct actor *a = watchman(s, (struct hope){0});
    if (anew) {
      HEARS(a, "expires", "");
      connects_anew(s);
    } else {
      reconnects(s);
    }
    HEARS(a, "get /gate: no node", "met");
    END(s);
  }
}

STORY("asks when there is a connection, and again where the answer was lost",
      .apart = true) {
  struct actor *a = AWAIT(s);
  SENT(s, "");
  SENDS(s, "connects", "get /gate");
  SENDS(s, "reconnects", "get /gate");
  HEARS(a, "get /gate: no node", "met");
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

/* What says nothing. */

STORY("does not believe what was asked before it had begun") {
  struct actor *a = AWAIT(s);
  SENT(s, "get /gate");
  struct actor *b = AWAIT(s);
  SENT(s, "");
  HEARS(a, "get /gate: no node", "met");
  HEARD(b, "");
  SENT(s, "get /gate");
  HEARS(b, "get /gate: theirs 7", "");
  HEARS(b, "deleted /gate", "met");
}

TEST("does not believe it either if the answer comes in the same batch") {
  for (int gone = 0; gone < 2; gone++) {
    struct stage *s = BEGIN();
    struct actor *a = AWAIT(s, .tries = true);
    together(s);
    struct actor *b = AWAIT(s, .tries = !gone);
    if (gone)
      happens(s, "get /gate: no node");
    else
      happens(s, "get /gate: theirs 7");
    apart(s);
    HEARD(a, gone ? "met" : "refused: timeout");
    HEARD(b, "");
    SENT(s, "get /gate");
    happens(s, "get /gate: theirs 8");
    HEARD(b, gone ? "" : "refused: timeout");
    if (gone) happens(s, "deleted /gate");
    HEARD(b, gone ? "met" : "");
    END(s);
  }
}

STORY("looks again after the end of a node that it has not seen") {
  struct actor *a = watchman(s, (struct hope){0});
  struct actor *b = AWAIT(s);
  SENT(s, "get /gate");
  happens(s, "deleted /gate"); /* it may have been before `b` began */
  HEARD(a, "met");
  HEARD(b, "");
  HEARS(b, "get /gate: theirs 8", "");
  HEARS(b, "deleted /gate", "met");
}

STORY("looks again, too, after one that comes in the batch it begins in") {
  struct actor *a = watchman(s, (struct hope){0});
  together(s);
  struct actor *b = AWAIT(s);
  happens(s, "deleted /gate");
  apart(s);
  HEARD(a, "met");
  HEARD(b, "");
  HEARS(b, "get /gate: no node", "met");
}

STORY("asks once for all who come in a batch, and watches once for all") {
  struct actor *all[1000];
  together(s);
  for (int i = 0; i < 1000; i++) all[i] = AWAIT(s, .proves = true);
  rounds_by_hand(s, true);
  apart(s);
  SENT(s, "round, get /gate");
  answers_round(s);
  SENDS(s, "get /gate: theirs 7", "");
  CHECK_INT(1, counted(s, "watches"));
  happens(s, "deleted /gate");
  for (int i = 0; i < 1000; i++) HEARD(all[i], "met");
  SENT(s, "");
}

/* Proofs. */

STORY("asks behind a committed round that was sent after it had begun") {
  rounds_by_hand(s, true);
  struct actor *a = AWAIT(s, .proves = true);
  SENT(s, "round, get /gate");
  struct actor *b = AWAIT(s, .proves = true); /* waits for the next */
  SENT(s, "");
  answers_round(s);
  SENT(s, "round");
  HEARS(a, "get /gate: no node", "met");
  HEARD(b, "");
  SENT(s, "get /gate");
  answers_round(s);
  HEARS(b, "get /gate: no node", "met");
}

STORY("needs no round of its own where nothing is to be proved") {
  rounds_by_hand(s, true);
  struct actor *a = AWAIT(s, .path = "/other", .proves = true), *b = AWAIT(s);
  SENT(s, "round, get /other, get /gate");
  answers_round(s);
  SENT(s, "");
  HEARS(a, "get /other: no node, get /gate: no node", "met");
  HEARD(b, "met");
}

STORY("believes nothing behind a round that was not committed") {
  rounds_by_hand(s, true);
  struct actor *a = AWAIT(s, .proves = true);
  SENT(s, "round, get /gate");
  HEARS(a, "round: throttled, get /gate: no node", "");
  SENDS(s, "100 ms", "round, get /gate");
  answers_round(s);
  HEARS(a, "get /gate: no node", "met");
}

STORY("proves nothing while a server has put its look off") {
  rounds_by_hand(s, true);
  struct actor *a = AWAIT(s, .proves = true);
  SENT(s, "round, get /gate");
  answers_round(s);
  happens(s, "get /gate: throttled");
  struct actor *b = AWAIT(s, .path = "/gate", .proves = true);
  SENT(s, "");
  SENDS(s, "100 ms", "round, get /gate");
  answers_round(s);
  HEARS(a, "get /gate: no node", "met");
  HEARD(b, "met");
}

STORY("proves again in the next connection") {
  struct actor *a = AWAIT(s, .proves = true);
  HEARS(a, "get /gate: theirs 7", "");
  rounds_by_hand(s, true);
  SENDS(s, "reconnects", "round"); /* it begins a connection */
  answers_round(s);
  SENT(s, "round, get /gate");
  answers_round(s);
  HEARS(a, "get /gate: no node", "met");
}

STORY("proves anew where the answer to its round was lost") {
  rounds_by_hand(s, true);
  struct actor *a = AWAIT(s, .proves = true);
  SENT(s, "round, get /gate");
  SENDS(s, "reconnects", "round");
  answers_round(s);
  SENT(s, "round, get /gate");
  answers_round(s);
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

STORY("waits on for a node that was made, and is gone when it looks") {
  struct actor *a = AWAIT(s, .until = THERE);
  HEARS(a, "exists /gate: no node, changed /gate, exists /gate: no node", "");
  HEARS(a, "reconnects, exists /gate: theirs 7", "met");
}

STORY("waits for the making and for the end of a node with one watch") {
  struct actor *gone = AWAIT(s), *there = AWAIT(s, .until = THERE);
  SENT(s, "get /gate");
  HEARS(gone, "get /gate: no node", "met");
  HEARS(there, "exists /gate: no node", "");
  gone = AWAIT(s);
  HEARS(gone, "exists /gate: no node", "met");
  HEARD(there, "");
  CHECK_INT(1, counted(s, "watches"));
  SENT(s, "");
  cancel(there);
  HEARD(there, "refused: cancelled");
  happens(s, "unwatch /gate");
  CHECK_INT(0, counted(s, "watches"));
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

STORY("ends at its deadline") {
  struct actor *a = watchman(s, (struct hope){.within = 3000});
  HEARS(a, "2999 ms", "");
  HEARS(a, "1 ms", "refused: timeout");
  happens(s, "unwatch /gate");
}

STORY("calls a deadline without a connection a disconnection") {
  struct actor *a = watchman(s, (struct hope){.within = 3000});
  HEARS(a, "disconnects, 3000 ms", "refused: disconnected");
  SENDS(s, "connects", "");
}

STORY("lets its end win over a deadline that comes with it") {
  struct actor *a = watchman(s, (struct hope){.within = 3000});
  together(s);
  stops_for(s, 3000);
  happens(s, "deleted /gate");
  apart(s);
  HEARD(a, "met");
}

STORY("ends when it is cancelled, and only the last takes the watch away") {
  struct actor *a = watchman(s, (struct hope){0});
  struct actor *b = watchman(s, (struct hope){0});
  CHECK_INT(1, counted(s, "watches"));
  cancel(a);
  HEARD(a, "refused: cancelled");
  SENT(s, "");
  cancel(a); /* that changes nothing any more */
  HEARD(a, "");
  cancel(b);
  HEARD(b, "refused: cancelled");
  SENT(s, "unwatch /gate");
  struct actor *c = AWAIT(s); /* comes back while it is taken away */
  SENT(s, "");
  HEARS(c, "unwatch /gate", "");
  HEARS(c, "get /gate: theirs 7", "");
  SENDS(s, "get /gate: theirs 7", "");
  HEARS(c, "deleted /gate", "met");
  CHECK_INT(0, counted(s, "watches"));
}

STORY("is cancelled before it has asked, and while it asks") {
  together(s);
  struct actor *a = AWAIT(s);
  cancel(a);
  apart(s);
  HEARD(a, "refused: cancelled");
  SENT(s, "");
  a = AWAIT(s, .proves = true);
  SENT(s, "get /gate");
  cancel(a);
  HEARD(a, "refused: cancelled");
  happens(s, "get /gate: theirs 7, unwatch /gate");
  CHECK_INT(0, counted(s, "watches"));
}

STORY("ends when the session is closed") {
  struct actor *a = watchman(s, (struct hope){0});
  struct actor *b = AWAIT(s, .until = CROWD);
  close_session(s);
  HEARD(a, "refused: closed");
  HEARD(b, "refused: closed");
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

/* Beside contenders. */

#define OTHERS "/lock/_c_00000000-0000-4000-8000-000000000000-lock-0000000001"

STORY("shares the watch of a node with those who contend") {
  struct actor *a = WAITER(s);
  CHECK_INT(2, counted(s, "watches"));
  struct actor *b = AWAIT(s, .path = OTHERS);
  SENT(s, "get 1");
  happens(s, "get 1");
  CHECK_INT(2, counted(s, "watches"));
  HEARS(a, "deleted 1", "granted");
  HEARD(b, "met");
  SENT(s, "");
}

STORY("leaves them the watch, and takes it over from them") {
  struct actor *a = WAITER(s), *b = AWAIT(s, .path = OTHERS);
  happens(s, "get 1");
  cancel(b);
  SENT(s, "");
  b = AWAIT(s, .path = OTHERS);
  happens(s, "get 1");
  cancel(a);
  SENT(s, "remove 2");
  HEARS(b, "remove 2, deleted 1", "met");
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

STORY("does not wait where the number is another one already") {
  struct actor *a = AWAIT(s, .until = CROWD, .known = -1);
  HEARS(a, "list and watch: nobody", "met");
  happens(s, "unwatch children");
  a = AWAIT(s, .until = CROWD, .known = 2);
  HEARS(a, "list and watch: no node", "met");
  SENT(s, "");
}

STORY("waits for contenders where the directory is missing") {
  struct actor *a = AWAIT(s, .until = CROWD);
  HEARS(a, "list and watch: no node", "");
  HEARS(a, "exists /lock: no node", "");
  SENDS(s, "60000 ms, exists /lock: no node", "");
  happens(s, "changed /lock"); /* it was made */
  SENT(s, "list and watch");
  HEARS(a, "list and watch: nobody", "");
  SENT(s, "");
  HEARS(a, "children /lock, list and watch: 1", "met");
  happens(s, "unwatch children");
  CHECK_INT(0, counted(s, "watches"));
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

STORY("is not met by a list of another that has armed nothing") {
  struct actor *a = AWAIT(s, .until = CROWD, .known = 1);
  happens(s, "list and watch: 1");
  ACQUIRE(s);
  SENT(s, "create lock, list");
  happens(s, "children /lock, create lock: 2, list: 1"); /* (a server's lag) */
  HEARD(a, "");
  happens(s, "exists /lock");
  SENT(s,
       "create lock, ask about 2, list and watch, unwatch /lock,"
       " list and watch");
}

STORY("believes no list that was asked for before it had begun") {
  struct actor *a = ACQUIRE(s);
  SENDS(s, "create lock: 1", "list");
  struct actor *b = AWAIT(s, .until = CROWD, .known = 1);
  SENT(s, "list and watch");
  HEARS(a, "list: 1 2", "granted");
  HEARD(b, "");
  HEARS(b, "list and watch: 1", "");
  HEARS(b, "children /lock, list and watch: 1 2", "met");
}

STORY("counts again in the next connection") {
  struct actor *a = AWAIT(s, .until = CROWD, .known = 1);
  SENDS(s, "list and watch: 1, reconnects", "list and watch");
  HEARS(a, "list and watch: 1", "");
  SENT(s, "");
  HEARS(a, "reconnects, list and watch: 1 2", "met");
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
  HEARD(a, "");
  HEARS(a, "100 ms, list: throttled", "");
  HEARS(a, "100 ms, list: nobody", "met");
}

STORY("counts with one list for all, and unwatches with the last") {
  together(s);
  struct actor *a = AWAIT(s, .until = CROWD, .known = 1);
  struct actor *b = AWAIT(s, .until = CROWD, .known = 1, .within = 1000);
  apart(s);
  SENT(s, "list and watch");
  HEARS(b, "list and watch: 1, 1000 ms", "refused: timeout");
  SENT(s, "");
  cancel(a);
  HEARD(a, "refused: cancelled");
  SENT(s, "unwatch children");
}
