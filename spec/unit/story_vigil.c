/* Vigils: who waits for what becomes of a node, and has none there. */
#include "memory.h"
#include "protocol/op.h"
#include "stage.h"

ABOUT("The protocol, for whoever waits and contends for nothing,");

/* One that waits for the end of "/gate", which it has seen. */
static struct actor *watchman(struct stage *s, struct hope hope) {
  struct actor *a = await(s, hope);
  stage_reads(s, "get /gate", false, 7);
  test_compare_text("heard", "", heard(a));
  test_compare_text("sent", "", sent(s));
  return a;
}

TEST("does not wait where the node is not there") {
  struct stage *s = BEGIN();
  struct actor *a = AWAIT(s);
  SENT(s, "get /gate");
  HEARD(a, "");
  answers(s, "get /gate", REPLY_NO_NODE);
  HEARD(a, "met");
  SENT(s, "");
  CHECK_INT(0, counted(s, "watches"));
  END(s);
}

TEST("waits until the node that it has seen is deleted") {
  struct stage *s = BEGIN();
  struct actor *a = watchman(s, (struct hope){0});
  passes(s, 100000);
  HEARD(a, "");
  SENT(s, "");
  deleted(s, "/gate");
  HEARD(a, "met");
  SENT(s, "");
  CHECK_INT(0, counted(s, "watches"));
  END(s);
}

TEST("does not mind that the node is written, and hears of its end still") {
  struct stage *s = BEGIN();
  struct actor *a = watchman(s, (struct hope){0});
  changed(s, "/gate");
  HEARD(a, "");
  reads(s, "get /gate", false, 7);
  HEARD(a, "");
  deleted(s, "/gate");
  HEARD(a, "met");
  END(s);
}

TEST("waits on in the next connection, for the same node") {
  struct stage *s = BEGIN();
  struct actor *a = watchman(s, (struct hope){0});
  disconnects(s);
  passes(s, 3000);
  HEARD(a, "");
  connects(s);
  SENT(s, "get /gate");
  reads(s, "get /gate", false, 7);
  HEARD(a, "");
  deleted(s, "/gate");
  HEARD(a, "met");
  END(s);
}

TEST("is met by another node in its place: it was gone for a moment") {
  struct stage *s = BEGIN();
  struct actor *a = watchman(s, (struct hope){0});
  reconnects(s);
  reads(s, "get /gate", false, 8);
  HEARD(a, "met");
  confirms(s, "unwatch /gate");
  CHECK_INT(0, counted(s, "watches"));
  END(s);
}

TEST("is met by a node that is gone in the next connection, or session") {
  for (int anew = 0; anew < 2; anew++) {
    struct stage *s = BEGIN();
    struct actor *a = watchman(s, (struct hope){0});
    if (anew) {
      expires(s);
      HEARD(a, "");
      connects_anew(s);
    } else {
      reconnects(s);
    }
    answers(s, "get /gate", REPLY_NO_NODE);
    HEARD(a, "met");
    END(s);
  }
}

TEST("asks when there is a connection, and again where the answer was lost") {
  struct stage *s = BEGIN(.apart = true);
  struct actor *a = AWAIT(s);
  SENT(s, "");
  connects(s);
  SENT(s, "get /gate");
  reconnects(s);
  SENT(s, "get /gate");
  answers(s, "get /gate", REPLY_NO_NODE);
  HEARD(a, "met");
  END(s);
}

TEST("asks again a little later where it could not ask") {
  struct stage *s = BEGIN();
  cannot_send(s, true);
  struct actor *a = AWAIT(s);
  cannot_send(s, false);
  SENT(s, "");
  passes(s, 100);
  answers(s, "get /gate", THROTTLED);
  HEARD(a, "");
  passes(s, 100);
  reads(s, "get /gate", false, 7);
  deleted(s, "/gate");
  HEARD(a, "met");
  END(s);
}

TEST("asks again where it could not ask about what another watches already") {
  struct stage *s = BEGIN();
  struct actor *a = watchman(s, (struct hope){0});
  for (int proves = 0; proves < 2; proves++) {
    cannot_send(s, true);
    struct actor *b = AWAIT(s, .proves = proves, .tries = true);
    cannot_send(s, false);
    passes(s, 100);
    reads(s, "get /gate", false, 7);
    HEARD(b, "refused: timeout");
    b = AWAIT(s, .proves = proves, .tries = true);
    answers(s, "get /gate", THROTTLED);
    HEARD(b, "");
    passes(s, 100);
    reads(s, "get /gate", false, 7);
    HEARD(b, "refused: timeout");
  }
  cancel(a);
  HEARD(a, "refused: cancelled");
  END(s);
}

/* What says nothing. */

TEST("does not believe what was asked before it had begun") {
  struct stage *s = BEGIN();
  struct actor *a = AWAIT(s);
  SENT(s, "get /gate");
  struct actor *b = AWAIT(s);
  SENT(s, "");
  answers(s, "get /gate", REPLY_NO_NODE);
  HEARD(a, "met");
  HEARD(b, "");
  SENT(s, "get /gate");
  reads(s, "get /gate", false, 7);
  HEARD(b, "");
  deleted(s, "/gate");
  HEARD(b, "met");
  END(s);
}

TEST("does not believe it either if the answer comes in the same batch") {
  for (int gone = 0; gone < 2; gone++) {
    struct stage *s = BEGIN();
    struct actor *a = AWAIT(s, .tries = true);
    together(s);
    struct actor *b = AWAIT(s, .tries = !gone);
    if (gone)
      answers(s, "get /gate", REPLY_NO_NODE);
    else
      reads(s, "get /gate", false, 7);
    apart(s);
    HEARD(a, gone ? "met" : "refused: timeout");
    HEARD(b, "");
    SENT(s, "get /gate");
    reads(s, "get /gate", false, 8);
    HEARD(b, gone ? "" : "refused: timeout");
    if (gone) deleted(s, "/gate");
    HEARD(b, gone ? "met" : "");
    END(s);
  }
}

TEST("looks again after the end of a node that it has not seen") {
  struct stage *s = BEGIN();
  struct actor *a = watchman(s, (struct hope){0});
  struct actor *b = AWAIT(s);
  SENT(s, "get /gate");
  deleted(s, "/gate"); /* it may have been before `b` began */
  HEARD(a, "met");
  HEARD(b, "");
  reads(s, "get /gate", false, 8);
  HEARD(b, "");
  deleted(s, "/gate");
  HEARD(b, "met");
  END(s);
}

TEST("looks again, too, after one that comes in the batch it begins in") {
  struct stage *s = BEGIN();
  struct actor *a = watchman(s, (struct hope){0});
  together(s);
  struct actor *b = AWAIT(s);
  deleted(s, "/gate");
  apart(s);
  HEARD(a, "met");
  HEARD(b, "");
  answers(s, "get /gate", REPLY_NO_NODE);
  HEARD(b, "met");
  END(s);
}

TEST("asks once for all who come in a batch, and watches once for all") {
  struct stage *s = BEGIN();
  struct actor *all[1000];
  together(s);
  for (int i = 0; i < 1000; i++) all[i] = AWAIT(s, .proves = true);
  rounds_by_hand(s, true);
  apart(s);
  SENT(s, "round, get /gate");
  answers_round(s);
  reads(s, "get /gate", false, 7);
  SENT(s, "");
  CHECK_INT(1, counted(s, "watches"));
  deleted(s, "/gate");
  for (int i = 0; i < 1000; i++) HEARD(all[i], "met");
  SENT(s, "");
  END(s);
}

/* Proofs. */

TEST("asks behind a committed round that was sent after it had begun") {
  struct stage *s = BEGIN();
  rounds_by_hand(s, true);
  struct actor *a = AWAIT(s, .proves = true);
  SENT(s, "round, get /gate");
  struct actor *b = AWAIT(s, .proves = true); /* waits for the next */
  SENT(s, "");
  answers_round(s);
  SENT(s, "round");
  answers(s, "get /gate", REPLY_NO_NODE);
  HEARD(a, "met");
  HEARD(b, "");
  SENT(s, "get /gate");
  answers_round(s);
  answers(s, "get /gate", REPLY_NO_NODE);
  HEARD(b, "met");
  END(s);
}

TEST("needs no round of its own where nothing is to be proved") {
  struct stage *s = BEGIN();
  rounds_by_hand(s, true);
  struct actor *a = AWAIT(s, .path = "/other", .proves = true);
  struct actor *b = AWAIT(s);
  SENT(s, "round, get /other, get /gate");
  answers_round(s);
  SENT(s, "");
  answers(s, "get /other", REPLY_NO_NODE);
  answers(s, "get /gate", REPLY_NO_NODE);
  HEARD(a, "met");
  HEARD(b, "met");
  END(s);
}

TEST("believes nothing behind a round that was not committed") {
  struct stage *s = BEGIN();
  rounds_by_hand(s, true);
  struct actor *a = AWAIT(s, .proves = true);
  SENT(s, "round, get /gate");
  answers(s, "round", THROTTLED);
  answers(s, "get /gate", REPLY_NO_NODE);
  HEARD(a, "");
  passes(s, 100);
  SENT(s, "round, get /gate");
  answers_round(s);
  answers(s, "get /gate", REPLY_NO_NODE);
  HEARD(a, "met");
  END(s);
}

TEST("proves nothing while a server has put its look off") {
  struct stage *s = BEGIN();
  rounds_by_hand(s, true);
  struct actor *a = AWAIT(s, .proves = true);
  SENT(s, "round, get /gate");
  answers_round(s);
  answers(s, "get /gate", THROTTLED);
  struct actor *b = AWAIT(s, .path = "/gate", .proves = true);
  SENT(s, "");
  passes(s, 100);
  SENT(s, "round, get /gate");
  answers_round(s);
  answers(s, "get /gate", REPLY_NO_NODE);
  HEARD(a, "met");
  HEARD(b, "met");
  END(s);
}

TEST("proves again in the next connection") {
  struct stage *s = BEGIN();
  struct actor *a = AWAIT(s, .proves = true);
  reads(s, "get /gate", false, 7);
  HEARD(a, "");
  rounds_by_hand(s, true);
  reconnects(s);
  SENT(s, "round"); /* it begins a connection */
  answers_round(s);
  SENT(s, "round, get /gate");
  answers_round(s);
  answers(s, "get /gate", REPLY_NO_NODE);
  HEARD(a, "met");
  END(s);
}

TEST("proves anew where the answer to its round was lost") {
  struct stage *s = BEGIN();
  rounds_by_hand(s, true);
  struct actor *a = AWAIT(s, .proves = true);
  SENT(s, "round, get /gate");
  reconnects(s);
  SENT(s, "round");
  answers_round(s);
  SENT(s, "round, get /gate");
  answers_round(s);
  passes(s, 200); /* nothing is to be tried again */
  SENT(s, "");
  answers(s, "get /gate", REPLY_NO_NODE);
  HEARD(a, "met");
  END(s);
}

/* Until it is there. */

TEST("waits until a node is there, and hears of its making") {
  struct stage *s = BEGIN();
  struct actor *a = AWAIT(s, .until = THERE);
  answers(s, "exists /gate", REPLY_NO_NODE);
  HEARD(a, "");
  SENT(s, "");
  changed(s, "/gate"); /* it was made */
  HEARD(a, "");
  reads(s, "exists /gate", false, 7);
  HEARD(a, "met");
  confirms(s, "unwatch /gate");
  END(s);
}

TEST("waits on for a node that was made, and is gone when it looks") {
  struct stage *s = BEGIN();
  struct actor *a = AWAIT(s, .until = THERE);
  answers(s, "exists /gate", REPLY_NO_NODE);
  changed(s, "/gate");
  answers(s, "exists /gate", REPLY_NO_NODE);
  HEARD(a, "");
  reconnects(s);
  reads(s, "exists /gate", false, 7);
  HEARD(a, "met");
  END(s);
}

TEST("waits for the making and for the end of a node with one watch") {
  struct stage *s = BEGIN();
  struct actor *gone = AWAIT(s);
  struct actor *there = AWAIT(s, .until = THERE);
  SENT(s, "get /gate");
  answers(s, "get /gate", REPLY_NO_NODE);
  HEARD(gone, "met");
  answers(s, "exists /gate", REPLY_NO_NODE);
  HEARD(there, "");
  gone = AWAIT(s);
  answers(s, "exists /gate", REPLY_NO_NODE);
  HEARD(gone, "met");
  HEARD(there, "");
  CHECK_INT(1, counted(s, "watches"));
  SENT(s, "");
  cancel(there);
  HEARD(there, "refused: cancelled");
  confirms(s, "unwatch /gate");
  CHECK_INT(0, counted(s, "watches"));
  END(s);
}

/* Its end, if it is another one. */

TEST("ends with the first answer if it does not wait") {
  struct stage *s = BEGIN();
  struct actor *a = AWAIT(s, .tries = true);
  reads(s, "get /gate", false, 7);
  HEARD(a, "refused: timeout");
  confirms(s, "unwatch /gate");
  a = AWAIT(s, .tries = true);
  answers(s, "get /gate", REPLY_NO_NODE);
  HEARD(a, "met");
  a = AWAIT(s, .until = THERE, .tries = true);
  answers(s, "exists /gate", REPLY_NO_NODE);
  HEARD(a, "refused: timeout");
  confirms(s, "unwatch /gate");
  a = AWAIT(s, .until = THERE, .tries = true);
  reads(s, "exists /gate", false, 7);
  HEARD(a, "met");
  END(s);
}

TEST("ends at its deadline") {
  struct stage *s = BEGIN();
  struct actor *a = watchman(s, (struct hope){.within = 3000});
  passes(s, 2999);
  HEARD(a, "");
  passes(s, 1);
  HEARD(a, "refused: timeout");
  confirms(s, "unwatch /gate");
  END(s);
}

TEST("calls a deadline without a connection a disconnection") {
  struct stage *s = BEGIN();
  struct actor *a = watchman(s, (struct hope){.within = 3000});
  disconnects(s);
  passes(s, 3000);
  HEARD(a, "refused: disconnected");
  connects(s);
  SENT(s, "");
  END(s);
}

TEST("lets its end win over a deadline that comes with it") {
  struct stage *s = BEGIN();
  struct actor *a = watchman(s, (struct hope){.within = 3000});
  together(s);
  stops_for(s, 3000);
  deleted(s, "/gate");
  apart(s);
  HEARD(a, "met");
  END(s);
}

TEST("ends when it is cancelled, and only the last takes the watch away") {
  struct stage *s = BEGIN();
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
  confirms(s, "unwatch /gate");
  HEARD(c, "");
  reads(s, "get /gate", false, 7);
  HEARD(c, "");
  reads(s, "get /gate", false, 7);
  SENT(s, "");
  deleted(s, "/gate");
  HEARD(c, "met");
  CHECK_INT(0, counted(s, "watches"));
  END(s);
}

TEST("is cancelled before it has asked, and while it asks") {
  struct stage *s = BEGIN();
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
  reads(s, "get /gate", false, 7);
  confirms(s, "unwatch /gate");
  CHECK_INT(0, counted(s, "watches"));
  END(s);
}

TEST("ends when the session is closed") {
  struct stage *s = BEGIN();
  struct actor *a = watchman(s, (struct hope){0});
  struct actor *b = AWAIT(s, .until = CROWD);
  close_session(s);
  HEARD(a, "refused: closed");
  HEARD(b, "refused: closed");
  END(s);
}

TEST("ends where credentials are refused, and does not begin there") {
  struct stage *s = BEGIN();
  struct actor *a = watchman(s, (struct hope){0});
  refuses_credentials(s);
  HEARD(a, "refused: auth");
  CHECK_INT(REASON_CREDENTIALS, reason_of(a));
  a = AWAIT(s);
  HEARD(a, "refused: auth");
  CHECK_INT(REASON_CREDENTIALS, reason_of(a));
  connects(s);
  SENT(s, "");
  a = AWAIT(s);
  SENT(s, "get /gate");
  HEARD(a, "");
  END(s);
}

TEST("does not begin without memory") {
  struct stage *s = BEGIN();
  for (int i = 0; i < 3; i++) CHECK(!AWAIT(s, .forgetful = true, .spared = i));
  CHECK(!AWAIT(s, .until = CROWD, .forgetful = true));
  SENT(s, "");
  CHECK_INT(0, counted(s, "watches"));
  END(s);
}

TEST("asks a little later where there was no memory to ask") {
  struct stage *s = BEGIN();
  together(s);
  struct actor *a = AWAIT(s);
  memory_refuse(1);
  apart(s);
  memory_refuse(0);
  SENT(s, "");
  passes(s, 100);
  answers(s, "get /gate", REPLY_NO_NODE);
  HEARD(a, "met");
  END(s);
}

/* Beside contenders. */

#define OTHERS "/lock/_c_00000000-0000-4000-8000-000000000000-lock-0000000001"

TEST("shares the watch of a node with those who contend") {
  struct stage *s = BEGIN();
  struct actor *a = WAITER(s);
  CHECK_INT(2, counted(s, "watches"));
  struct actor *b = AWAIT(s, .path = OTHERS);
  SENT(s, "get 1");
  confirms(s, "get 1");
  CHECK_INT(2, counted(s, "watches"));
  deleted(s, "1");
  HEARD(a, "granted");
  HEARD(b, "met");
  SENT(s, "");
  END(s);
}

TEST("leaves them the watch, and takes it over from them") {
  struct stage *s = BEGIN();
  struct actor *a = WAITER(s);
  struct actor *b = AWAIT(s, .path = OTHERS);
  confirms(s, "get 1");
  cancel(b);
  SENT(s, "");
  b = AWAIT(s, .path = OTHERS);
  confirms(s, "get 1");
  cancel(a);
  SENT(s, "remove 2");
  confirms(s, "remove 2");
  deleted(s, "1");
  HEARD(b, "met");
  END(s);
}

/* Crowds. */

TEST("waits until a directory has another number of contenders") {
  struct stage *s = BEGIN();
  struct actor *a = AWAIT(s, .until = CROWD, .known = 2);
  SENT(s, "list and watch");
  shows(s, "1 2 noise");
  HEARD(a, "");
  SENT(s, "");
  children_changed(s, "/lock");
  SENT(s, "list and watch");
  shows(s, "2 3l"); /* as many: they are others */
  HEARD(a, "");
  children_changed(s, "/lock");
  shows(s, "2 3l 4");
  HEARD(a, "met");
  confirms(s, "unwatch children");
  END(s);
}

TEST("does not wait where the number is another one already") {
  struct stage *s = BEGIN();
  struct actor *a = AWAIT(s, .until = CROWD, .known = -1);
  shows(s, "");
  HEARD(a, "met");
  confirms(s, "unwatch children");
  a = AWAIT(s, .until = CROWD, .known = 2);
  answers(s, "list and watch", REPLY_NO_NODE);
  HEARD(a, "met");
  SENT(s, "");
  END(s);
}

TEST("waits for contenders where the directory is missing") {
  struct stage *s = BEGIN();
  struct actor *a = AWAIT(s, .until = CROWD);
  answers(s, "list and watch", REPLY_NO_NODE);
  HEARD(a, "");
  answers(s, "exists /lock", REPLY_NO_NODE);
  HEARD(a, "");
  passes(s, 60000);
  answers(s, "exists /lock", REPLY_NO_NODE);
  SENT(s, "");
  changed(s, "/lock"); /* it was made */
  SENT(s, "list and watch");
  shows(s, "");
  HEARD(a, "");
  SENT(s, "");
  children_changed(s, "/lock");
  shows(s, "1");
  HEARD(a, "met");
  confirms(s, "unwatch children");
  CHECK_INT(0, counted(s, "watches"));
  END(s);
}

TEST("looks for a missing directory a little later if there is no memory") {
  struct stage *s = BEGIN();
  struct actor *a = AWAIT(s, .until = CROWD);
  memory_refuse(1);
  answers(s, "list and watch", REPLY_NO_NODE);
  memory_refuse(0);
  SENT(s, "");
  passes(s, 100);
  answers(s, "list and watch", REPLY_NO_NODE);
  SENT(s, "exists /lock");
  HEARD(a, "");
  END(s);
}

TEST("lists again where the directory was made before it looked for that") {
  struct stage *s = BEGIN();
  struct actor *a = AWAIT(s, .until = CROWD);
  answers(s, "list and watch", REPLY_NO_NODE);
  reads(s, "exists /lock", false, 7);
  HEARD(a, "");
  SENT(s, "unwatch /lock, list and watch");
  confirms(s, "unwatch /lock");
  shows(s, "1");
  HEARD(a, "met");
  END(s);
}

TEST("waits on when the directory of nobody is deleted") {
  struct stage *s = BEGIN();
  struct actor *a = AWAIT(s, .until = CROWD);
  shows(s, "");
  deleted(s, "/lock"); /* as servers do it with empty containers */
  answers(s, "list and watch", REPLY_NO_NODE);
  answers(s, "exists /lock", REPLY_NO_NODE);
  HEARD(a, "");
  SENT(s, "");
  reconnects(s);
  answers(s, "list and watch", REPLY_NO_NODE);
  answers(s, "exists /lock", REPLY_NO_NODE);
  HEARD(a, "");
  cancel(a);
  HEARD(a, "refused: cancelled");
  confirms(s, "unwatch /lock");
  CHECK_INT(0, counted(s, "watches"));
  END(s);
}

TEST("is not met by a list of another that has armed nothing") {
  struct stage *s = BEGIN();
  struct actor *a = AWAIT(s, .until = CROWD, .known = 1);
  shows(s, "1");
  ACQUIRE(s);
  SENT(s, "create lock, list");
  children_changed(s, "/lock");
  made(s, 2);
  shows(s, "1"); /* (a server's lag) */
  HEARD(a, "");
  confirms(s, "exists /lock");
  SENT(s,
       "create lock, ask about 2, list and watch, unwatch /lock,"
       " list and watch");
  END(s);
}

TEST("believes no list that was asked for before it had begun") {
  struct stage *s = BEGIN();
  struct actor *a = ACQUIRE(s);
  made(s, 1);
  SENT(s, "list");
  struct actor *b = AWAIT(s, .until = CROWD, .known = 1);
  SENT(s, "list and watch");
  shows(s, "1 2");
  HEARD(a, "granted");
  HEARD(b, "");
  shows(s, "1");
  HEARD(b, "");
  children_changed(s, "/lock");
  shows(s, "1 2");
  HEARD(b, "met");
  END(s);
}

TEST("counts again in the next connection") {
  struct stage *s = BEGIN();
  struct actor *a = AWAIT(s, .until = CROWD, .known = 1);
  shows(s, "1");
  reconnects(s);
  SENT(s, "list and watch");
  shows(s, "1");
  HEARD(a, "");
  SENT(s, "");
  reconnects(s);
  shows(s, "1 2");
  HEARD(a, "met");
  END(s);
}

TEST("hears that nobody may list the directory") {
  struct stage *s = BEGIN();
  struct actor *a = AWAIT(s, .until = CROWD, .known = 1);
  struct actor *b = AWAIT(s, .until = CROWD, .known = 2);
  answers(s, "list and watch", REPLY_NO_AUTH);
  HEARD(a, "refused: denied");
  HEARD(b, "refused: denied");
  CHECK_INT(REPLY_NO_AUTH, reason_of(a));
  END(s);
}

TEST("lists again where that has failed, or there was no memory for it") {
  struct stage *s = BEGIN();
  struct actor *a = AWAIT(s, .until = CROWD, .known = 1);
  shows_without_memory(s);
  HEARD(a, "");
  passes(s, 100);
  answers(s, "list", THROTTLED);
  HEARD(a, "");
  passes(s, 100);
  shows(s, "");
  HEARD(a, "met");
  END(s);
}

TEST("counts with one list for all, and unwatches with the last") {
  struct stage *s = BEGIN();
  together(s);
  struct actor *a = AWAIT(s, .until = CROWD, .known = 1);
  struct actor *b = AWAIT(s, .until = CROWD, .known = 1, .within = 1000);
  apart(s);
  SENT(s, "list and watch");
  shows(s, "1");
  passes(s, 1000);
  HEARD(b, "refused: timeout");
  SENT(s, "");
  cancel(a);
  HEARD(a, "refused: cancelled");
  SENT(s, "unwatch children");
  END(s);
}
