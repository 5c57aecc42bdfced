/* Nodes that a session may not read: getData says NO_AUTH of them, on each
 * server, and NO_NODE when they are gone; nothing else tells of them. */
#include "stage.h"

ABOUT("The protocol, where nodes are hidden by their ACLs,");

/* A waiter with node `number`, behind those that `children` shows; its
 * predecessor is hidden. */
static struct actor *behind(struct stage *s, int number, const char *children,
                            const char *predecessor) {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: %d, list: %s, get %d", number, children, number);
  happens(s, "%s: no auth", predecessor);
  return a;
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

STORY("watches no children far from the front: that would be a herd") {
  struct actor *a = behind(s, 5, "1 2 3 4 5", "get 4");
  SENDS(s, "get 3: no auth", "");
  happens(s, "1667 ms, get 3: no node"); /* the one before its predecessor */
  SENDS(s, "get 4: no auth, list: 4 5", "list and watch");
  HEARS(a, "list and watch: 4 5, children /lock, list and watch: 5", "granted");
  happens(s, "unwatch children");
}

STORY("refuses a waiter whose own node it may not look at any more") {
  struct actor *a = WAITER(s);
  HEARS(a, "reconnects, list: 1 2, get 2: no auth", "refused: denied");
  CHECK_TEXT("cannot read the node of this session /lock", denial_of(a));
}

STORY("does not let in a member whose node was watched, and is hidden now") {
  struct actor *b = ACQUIRE(s, .lock = MEMBER, .permits = 1);
  happens(s, "create member: 3, exists ready: no node, list: 3, get 3");
  HEARS(b, "mkdir ready for all: theirs 1100", "granted");
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 3);
  happens(s, "unwatch ready, create member: 200, list: 3 200");
  HEARS(a, "exists ready: theirs 1100, get 200", "");
  depart(b); /* it waits for the other */
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
