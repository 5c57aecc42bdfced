/* Nodes that a session may not read: getData says NO_AUTH of them, on each server,
 * and NO_NODE when they are gone; nothing else tells of them. */
#include "stage.h"

ABOUT("The protocol, where nodes are hidden by their ACLs,");

/* A waiter with node `number`, behind those that `children` shows; its predecessor
 * is hidden. */
static struct actor *behind(struct stage *s, int number, const char *children,
                            const char *predecessor) {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: %d, list: %s, get %d", number, children, number);
  happens(s, "%s: no auth", predecessor);
  return a;
}

/* Waiters. */

STORY("polls the node ahead of a waiter, and grants when there is none") {
  struct actor *a = behind(s, 2, "1 2", "get 1");
  SENT(s, "list and watch");
  happens(s, "list and watch: 1 2");
  for (int i = 0; i < 3; i++) {
    SENT(s, "");
    HEARS(a, "1667 ms, get 1: no auth", "");
  }
  HEARS(a, "1667 ms, get 1: no node", "granted");
  SENDS(s, "unwatch children, 9000 ms", "");
}

STORY("polls a little earlier than each sixth of the timeout, never later") {
  behind(s, 2, "1 2", "get 1");
  happens(s, "list and watch: 1 2");
  bool early = false;
  for (int i = 0; i < 20; i++) {
    SENDS(s, "1240 ms", "");
    passes(s, 1);
    int after = 1241;
    while (after < 1668 && strcmp(sent(s), "") == 0) {
      passes(s, 1);
      after++;
    }
    early |= after < 1600;
    CHECK(after <= 1668);
    happens(s, "get 1: no auth");
  }
  CHECK(early);
}

STORY("lists at each change of the directory while it is near the front") {
  struct actor *a = behind(s, 4, "1 2 3 4", "get 3");
  happens(s, "get 2: no auth, list and watch: 1 2 3 4"); /* "list and watch" */
  SENDS(s, "children /lock", "list and watch");
  SENDS(s, "list and watch: 2 3 4", "");
  HEARS(a, "children /lock, list and watch: 3 4, children /lock", "");
  HEARS(a, "list and watch: 4", "granted");
  happens(s, "unwatch children");
}

STORY("watches no children far from the front: that would be a herd") {
  struct actor *a = behind(s, 5, "1 2 3 4 5", "get 4");
  SENDS(s, "get 3: no auth", "");
  happens(s, "1667 ms, get 3: no node"); /* the one before its predecessor */
  SENDS(s, "get 4: no auth, list: 4 5", "list and watch");
  HEARS(a, "list and watch: 4 5, children /lock, list and watch: 5", "granted");
  happens(s, "unwatch children");
}

/* Its own node. */

STORY("takes no node for its own that has only the name, and is hidden") {
  struct actor *a = ACQUIRE(s);
  made_unheard(s, 2);
  HEARS(a, "reconnects, list: 2, get 2: no auth", "");
  SENT(s, "list");
  SENDS(s, "list: 2", "create lock, list");
}

STORY("refuses a waiter whose own node it may not look at any more") {
  struct actor *a = WAITER(s);
  HEARS(a, "reconnects, list: 1 2, get 2: no auth", "refused: denied");
  CHECK_TEXT("cannot look at our node /lock", denial_of(a));
}

STORY("does not let in a member whose node was watched, and is hidden now") {
  struct actor *b = ACQUIRE(s, .lock = MEMBER, .permits = 1);
  happens(s, "create member: 3, exists ready: no node, list: 3, get 3");
  HEARS(b, "mkdir ready for all: theirs 1100", "granted");
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 3);
  happens(s, "unwatch ready, create member: 200, list: 3 200");
  HEARS(a, "exists ready: theirs 1100, get 200", "");
  DEPART(b); /* it waits for the other */
  happens(s, "list all of /lock: 3 200 ready, get 200: no auth");
  HEARS(a, "changed ready, get 200: no auth", "");
  HEARS(a, "exists ready: theirs 1201", "refused: denied");
}

STORY("refuses a downgrade whose writer's node it may not look at") {
  struct actor *writer = HOLDER(s, 4, .lock = WRITER);
  struct actor *reader = ACQUIRE(s, .lock = READER, .below = writer);
  happens(s, "get 4: no auth, create read 4: 99, list: 4w 4r 5w");
  HEARD(reader, "refused: denied");
}

STORY("leaves a stray alone that it may not look at, and takes others") {
  ACQUIRE(s, .watches_parent = true);
  happens(s, "create lock: 5");
  shows_forged(s, "5", 1);
  happens(s, "ask about 0: no auth, get 5, children /lock");
  shows_forged(s, "5", 2);
  happens(s, "ask about 1");
  CHECK_INT(0, counted(s, "strays"));
}

/* Unfair locks, vigils, double barriers. */

#define CREATES "create holder with hold"

STORY("gives its own node back where an unfair lock's is hidden at once") {
  struct actor *a = ACQUIRE(s, .lock = UNFAIR);
  /* an operator deleted ours */
  happens(s, "create holder with hold: 1, get holder: no auth, ask about 1");
  happens(s, "remove 1");
  SENT(s, CREATES ", get holder");
  HEARD(a, "");
}

static struct actor *hidden_hold(struct stage *s) {
  struct actor *a = ACQUIRE(s, .lock = UNFAIR);
  HEARS(a, "create holder with hold: 1, get holder", "granted");
  HEARS(a, "reconnects, get holder: no auth", "");
  release(a);
  happens(s, "get holder: no auth");
  return a;
}

STORY(
    "keeps an unfair hold whose node it may not look at, and cannot give "
    "back") {
  struct actor *a = hidden_hold(s);
  HEARS(a, "ask about 1, get holder: no auth", "kept");
  HEARS(a, "1667 ms, get holder, remove holder with 1", "removed, forgotten");
}

STORY("does not wait behind a hidden node where its delete was applied") {
  struct actor *a = ACQUIRE(s, .lock = UNFAIR);
  HEARS(a, "create holder with hold: 1, get holder", "granted");
  release(a);
  happens(s, "remove holder with 1: no node, get holder: no auth");
  HEARD(a, "removed, forgotten");
}

STORY("tells one that does not wait that a hidden node is there") {
  struct actor *a = AWAIT(s, .tries = true);
  HEARS(a, "get /gate: no auth", "refused: timeout");
}

STORY("waits until a node is there, though it is hidden") {
  struct actor *a = AWAIT(s, .until = THERE);
  HEARS(a, "exists /gate: no node", "");
  passes(s, 1667); /* it is made, and no event comes */
  HEARS(a, "exists /gate: no auth", "met");
  SENDS(s, "unwatch /gate: no watch, exists /gate: no auth", "");
  CHECK_INT(0, counted(s, "watches"));
}

STORY(
    "makes `ready` once more where it may not look at the one that is there") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  HEARS(a, "create member: 2, exists ready: no auth, list: 2 ready, get 2", "");
  passes(s, 1667);
  /* have enough come by now? */
  happens(s, "exists ready: no auth, list: 1m 2 ready, remake ready for all");
  HEARD(a, "granted");
}

STORY("is let in by a hidden `ready` that another was quicker to make") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  happens(s, "create member: 2, exists ready: no node, list: 1m 2, get 2");
  HEARS(a, "mkdir ready for all: exists, exists ready: no auth", "granted");
}
