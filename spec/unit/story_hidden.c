/* Nodes that a session may not read: getData says NO_AUTH of them, on each server,
 * and NO_NODE when they are gone; nothing else tells of them. */
#include <stdio.h>
#include <string.h>

#include "protocol/op.h"
#include "stage.h"

ABOUT("The protocol, where nodes are hidden by their ACLs,");

/* A waiter with node `number`, behind those that `children` shows; its predecessor
 * is hidden. */
static struct actor *behind(struct stage *s, int number, const char *children,
                            const char *predecessor) {
  char request[20];
  struct actor *a = ACQUIRE(s);
  made(s, number);
  shows(s, children);
  snprintf(request, sizeof request, "get %d", number);
  confirms(s, request);
  answers(s, predecessor, REPLY_NO_AUTH);
  return a;
}

/* Waiters. */

STORY("polls the node ahead of a waiter, and grants when there is none") {
  struct actor *a = behind(s, 2, "1 2", "get 1");
  SENT(s, "list and watch");
  shows(s, "1 2");
  for (int i = 0; i < 3; i++) {
    SENT(s, "");
    passes(s, 1667);
    answers(s, "get 1", REPLY_NO_AUTH);
    HEARD(a, "");
  }
  passes(s, 1667);
  answers(s, "get 1", REPLY_NO_NODE);
  HEARD(a, "granted");
  confirms(s, "unwatch children");
  passes(s, 9000);
  SENT(s, "");
}

STORY("polls a little earlier than each sixth of the timeout, never later") {
  behind(s, 2, "1 2", "get 1");
  shows(s, "1 2");
  bool early = false;
  for (int i = 0; i < 20; i++) {
    passes(s, 1240);
    SENT(s, "");
    passes(s, 1);
    int after = 1241;
    while (after < 1668 && strcmp(sent(s), "") == 0) {
      passes(s, 1);
      after++;
    }
    early |= after < 1600;
    CHECK(after <= 1668);
    answers(s, "get 1", REPLY_NO_AUTH);
  }
  CHECK(early);
}

STORY("lists at each change of the directory while it is near the front") {
  struct actor *a = behind(s, 4, "1 2 3 4", "get 3");
  answers(s, "get 2", REPLY_NO_AUTH);
  shows(s, "1 2 3 4"); /* "list and watch" */
  children_changed(s, "/lock");
  SENT(s, "list and watch");
  shows(s, "2 3 4");
  SENT(s, "");
  children_changed(s, "/lock");
  shows(s, "3 4");
  children_changed(s, "/lock");
  HEARD(a, "");
  shows(s, "4");
  HEARD(a, "granted");
  confirms(s, "unwatch children");
}

STORY("watches no children far from the front: that would be a herd") {
  struct actor *a = behind(s, 5, "1 2 3 4 5", "get 4");
  answers(s, "get 3", REPLY_NO_AUTH);
  SENT(s, "");
  passes(s, 1667);
  answers(s, "get 3", REPLY_NO_NODE); /* the one before its predecessor */
  answers(s, "get 4", REPLY_NO_AUTH);
  shows(s, "4 5");
  SENT(s, "list and watch");
  shows(s, "4 5");
  children_changed(s, "/lock");
  shows(s, "5");
  HEARD(a, "granted");
  confirms(s, "unwatch children");
}

STORY("learns from another waiter of its session that the node is hidden") {
  struct actor *readers[2];
  for (int i = 0; i < 2; i++) {
    readers[i] = ACQUIRE(s, .lock = READER);
    made(s, 2 + i);
    shows(s, i == 0 ? "1w 2" : "1w 2 3");
    confirms(s, i == 0 ? "get 2" : "get 3");
    if (i == 0) answers(s, "get 1", REPLY_NO_AUTH);
    if (i == 0) shows(s, "1w 2"); /* and watches the children */
  }
  cancel(readers[0]);
  HEARD(readers[0], "refused: cancelled");
  confirms(s, "remove 2, unwatch 2");
  children_changed(s, "/lock");
  SENT(s, "list and watch");
  shows(s, "3");
  HEARD(readers[1], "granted");
}

STORY("watches a node again that may be read by now") {
  struct actor *a = behind(s, 2, "1 2", "get 1");
  shows(s, "1 2");
  passes(s, 1667);
  confirms(s, "get 1");
  passes(s, 9000);
  SENT(s, "");
  deleted(s, "1");
  HEARD(a, "granted");
}

STORY("begins again in the next connection") {
  struct actor *a = behind(s, 2, "1 2", "get 1");
  shows(s, "1 2");
  reconnects(s);
  shows(s, "1 2");
  confirms(s, "get 2");
  answers(s, "get 1", REPLY_NO_AUTH);
  SENT(s, ""); /* (the list was watched) */
  children_changed(s, "/lock");
  shows(s, "2");
  HEARD(a, "granted");
}

STORY(
    "refuses one that does not wait, whosever the node is that was long "
    "there") {
  struct actor *a = ACQUIRE(s, .tries = true);
  made(s, 2);
  shows(s, "1 2");
  HEARD(a, "refused: busy");
  confirms(s, "remove 2");
  passes(s, 11000);
  a = ACQUIRE(s, .tries = true);
  made(s, 3);
  shows(s, "1 3");
  confirms(s, "get 3");
  answers(s, "get 1", REPLY_NO_AUTH); /* has it no session? */
  shows(s, "1 3");
  HEARD(a, "refused: busy");
}

STORY("passes over no node that it may not read") {
  struct actor *a = behind(s, 2, "1 2", "get 1");
  shows(s, "1 2");
  passes(s, 1667);
  nobodys(s, "get 1");
  SENT(s, "list");
  HEARD(a, "");
}

/* Its own node. */

STORY("takes no node for its own that has only the name, and is hidden") {
  struct actor *a = ACQUIRE(s);
  made_unheard(s, 2);
  reconnects(s);
  shows(s, "2");
  answers(s, "get 2", REPLY_NO_AUTH);
  HEARD(a, "");
  SENT(s, "list");
  shows(s, "2");
  SENT(s, "create lock, list");
}

STORY("refuses a waiter whose own node it may not look at any more") {
  struct actor *a = WAITER(s);
  reconnects(s);
  shows(s, "1 2");
  answers(s, "get 2", REPLY_NO_AUTH);
  HEARD(a, "refused: denied");
  CHECK_TEXT("cannot look at our node /lock", denial_of(a));
}

STORY("loses a hold whose node is hidden, and gone by the next poll") {
  struct actor *a = HOLDER(s, 1);
  passes(s, 1667);
  answers(s, "get 1", REPLY_NO_AUTH);
  HEARD(a, "");
  passes(s, 1667);
  answers(s, "get 1", REPLY_NO_NODE);
  HEARD(a, "lost: deleted, removed, forgotten");
}

STORY("does not grant by a deletion while its own node is hidden") {
  struct actor *a = ACQUIRE(s);
  made(s, 2);
  shows(s, "1 2");
  answers(s, "get 2", REPLY_NO_AUTH);
  confirms(s, "get 1");
  deleted(s, "1");
  HEARD(a, "");
  SENT(s, "list");
  shows(s, "2");
  HEARD(a, "granted");
}

STORY("refuses a downgrade whose writer's node it may not look at") {
  struct actor *writer = HOLDER(s, 4, .lock = WRITER);
  struct actor *reader = ACQUIRE(s, .lock = READER, .below = writer);
  answers(s, "get 4", REPLY_NO_AUTH);
  made(s, 99);
  shows(s, "4w 4r 5w");
  HEARD(reader, "refused: denied");
}

STORY("leaves a stray alone that it may not look at, and takes others") {
  ACQUIRE(s, .watches_parent = true);
  made(s, 5);
  shows_forged(s, "5", 1);
  answers(s, "ask about 0", REPLY_NO_AUTH);
  confirms(s, "get 5");
  children_changed(s, "/lock");
  shows_forged(s, "5", 2);
  confirms(s, "ask about 1");
  CHECK_INT(0, counted(s, "strays"));
}

/* Unfair locks, vigils, double barriers. */

#define CREATES "create holder with hold"

STORY("waits for an unfair lock's node, and makes it when it is gone") {
  struct actor *a = ACQUIRE(s, .lock = UNFAIR);
  answers(s, CREATES, REPLY_NODE_EXISTS);
  answers(s, "get holder", REPLY_NO_AUTH);
  HEARD(a, "");
  passes(s, 1667);
  answers(s, "get holder", REPLY_NO_NODE);
  SENT(s, CREATES ", get holder");
  made(s, 2);
  confirms(s, "get holder");
  HEARD(a, "granted");
}

STORY("waits on behind an unfair lock's node where its create was lost") {
  struct actor *a = ACQUIRE(s, .lock = UNFAIR);
  reconnects(s);
  shows(s, "");
  answers(s, CREATES, REPLY_NODE_EXISTS);
  answers(s, "get holder", REPLY_NO_AUTH);
  HEARD(a, "");
  cancel(a);
  HEARD(a, "refused: cancelled, removed, forgotten");
  SENT(s, "");
}

STORY("gives its own node back where an unfair lock's is hidden at once") {
  struct actor *a = ACQUIRE(s, .lock = UNFAIR);
  made(s, 1);
  answers(s, "get holder", REPLY_NO_AUTH); /* an operator deleted ours */
  confirms(s, "ask about 1, remove 1");
  SENT(s, CREATES ", get holder");
  HEARD(a, "");
}

static struct actor *hidden_hold(struct stage *s) {
  struct actor *a = ACQUIRE(s, .lock = UNFAIR);
  made(s, 1);
  confirms(s, "get holder");
  HEARD(a, "granted");
  reconnects(s);
  answers(s, "get holder", REPLY_NO_AUTH);
  HEARD(a, "");
  release(a);
  answers(s, "get holder", REPLY_NO_AUTH);
  return a;
}

STORY(
    "keeps an unfair hold whose node it may not look at, and cannot give "
    "back") {
  struct actor *a = hidden_hold(s);
  confirms(s, "ask about 1");
  answers(s, "get holder", REPLY_NO_AUTH);
  HEARD(a, "kept");
  passes(s, 1667);
  confirms(s, "get holder");
  confirms(s, "remove holder with 1");
  HEARD(a, "removed, forgotten");
}

STORY("takes a hidden node for another's where its own beside it is gone") {
  struct actor *a = hidden_hold(s);
  answers(s, "ask about 1", REPLY_NO_NODE);
  HEARD(a, "removed, forgotten");
}

STORY("does not wait behind a hidden node where its delete was applied") {
  struct actor *a = ACQUIRE(s, .lock = UNFAIR);
  made(s, 1);
  confirms(s, "get holder");
  HEARD(a, "granted");
  release(a);
  answers(s, "remove holder with 1", REPLY_NO_NODE);
  answers(s, "get holder", REPLY_NO_AUTH);
  HEARD(a, "removed, forgotten");
}

STORY("waits until a hidden node is gone") {
  struct actor *a = AWAIT(s);
  answers(s, "get /gate", REPLY_NO_AUTH);
  HEARD(a, "");
  passes(s, 1667);
  answers(s, "get /gate", REPLY_NO_AUTH);
  passes(s, 1667);
  answers(s, "get /gate", REPLY_NO_NODE);
  HEARD(a, "met");
  SENT(s, "");
}

STORY("tells one that does not wait that a hidden node is there") {
  struct actor *a = AWAIT(s, .tries = true);
  answers(s, "get /gate", REPLY_NO_AUTH);
  HEARD(a, "refused: timeout");
}

STORY("waits until a node is there, though it is hidden") {
  struct actor *a = AWAIT(s, .until = THERE);
  answers(s, "exists /gate", REPLY_NO_NODE);
  HEARD(a, "");
  passes(s, 1667); /* it is made, and no event comes */
  answers(s, "exists /gate", REPLY_NO_AUTH);
  HEARD(a, "met");
  answers(s, "unwatch /gate", REPLY_NO_WATCH);
  answers(s, "exists /gate", REPLY_NO_AUTH);
  SENT(s, "");
  CHECK_INT(0, counted(s, "watches"));
}

STORY("takes its own half of a watch away that a server has forgotten") {
  struct actor *a = AWAIT(s, .until = THERE);
  answers(s, "exists /gate", REPLY_NO_NODE);
  cancel(a);
  answers(s, "unwatch /gate", REPLY_NO_WATCH);
  answers(s, "exists /gate", REPLY_NO_NODE);
  confirms(s, "unwatch /gate");
  SENT(s, "");
  CHECK_INT(0, counted(s, "watches"));
}

#define REMAKE "remake /lock/ready for good for others too"
#define READY "mkdir /lock/ready for good for others too"

STORY("is let in by a hidden `ready` that was not there when its node was") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  made(s, 2);
  answers(s, "exists /lock/ready", REPLY_NO_NODE);
  shows(s, "2");
  confirms(s, "get 2");
  passes(s, 1667);
  answers(s, "exists /lock/ready", REPLY_NO_AUTH);
  HEARD(a, "granted");
}

STORY(
    "makes `ready` once more where it may not look at the one that is there") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  made(s, 2);
  answers(s, "exists /lock/ready", REPLY_NO_AUTH);
  shows(s, "2 ready");
  confirms(s, "get 2");
  HEARD(a, "");
  passes(s, 1667);
  answers(s, "exists /lock/ready", REPLY_NO_AUTH);
  shows(s, "1m 2 ready"); /* have enough come by now? */
  confirms(s, REMAKE);
  HEARD(a, "granted");
}

STORY("is let in by a hidden `ready` that another was quicker to make") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  made(s, 2);
  answers(s, "exists /lock/ready", REPLY_NO_NODE);
  shows(s, "1m 2");
  confirms(s, "get 2");
  answers(s, READY, REPLY_NODE_EXISTS);
  answers(s, "exists /lock/ready", REPLY_NO_AUTH);
  HEARD(a, "granted");
}
