/* Who gives a lock back that others wait for, and wants it again in the same
 * batch: the delete and the create are one transaction. */
#include "stage.h"

ABOUT("The protocol, where a node is exchanged for another,");

/* One has held the lock, with 3 and 4 behind its node 2, and comes back. */
static struct actor *comes_back(struct stage *s, bool tries) {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 2, list: 1 2 3 4, get 2, get 1, deleted 1");
  heard(a);
  together(s);
  release(a);
  a = ACQUIRE(s, .tries = tries);
  apart(s);
  return a;
}

STORY("is told whose its node is by the next of ours, who waits for it") {
  struct actor *a = comes_back(s, false);
  happens(s, "deleted 2, remove 2 with create lock: 5");
  struct actor *b = ACQUIRE(s);
  SENDS(s, "get 4, get 3", "create lock, get 5");
  SENDS(s, "create lock: 6, get 5, deleted 3", "list"); /* and not "get 5" */
  HEARS(a, "list: 4 5 6, deleted 4", "granted");
  HEARD(b, "");
  CHECK_INT(1005, (int)token_of(a));
}

STORY("looks for its node if the one of its name is another session's") {
  struct actor *a = comes_back(s, false);
  happens(s, "deleted 2, remove 2 with create lock: 6, get 4, deleted 4");
  HEARS(a, "get 6: theirs 1006, list: 5 6", "");
  SENT(s, "unwatch 6, create lock, list");
}

STORY("asks for each by itself if the next one does not want to wait") {
  comes_back(s, true);
  SENT(s, "remove 2, create lock, list");
}
