/* Who gives a lock back that others wait for, and wants it again in the same
 * batch: the delete and the create are one transaction. */
#include "stage.h"

ABOUT("The protocol, where a node is exchanged for another,");

/* One has held the lock, with 3 and 4 behind its node 2, and comes back. */
static struct actor *comes_back(struct stage *s, struct wish wish) {
  struct actor *a = ACQUIRE(s);
  stage_happens(s, "create lock: 2, list: 1 2 3 4, get 2, get 1, deleted 1");
  heard(a);
  together(s);
  release(a);
  a = acquire(s, wish);
  apart(s);
  return a;
}

#define COMES_BACK(s, ...) \
  (HERE, comes_back(s, (struct wish){.nothing = 0, __VA_ARGS__}))

STORY(
    "asks once for both, and is granted at the deletion of the last one "
    "ahead") {
  struct actor *a = COMES_BACK(s);
  SENT(s, "remove 2 with create lock, get 4");
  SENDS(s, "deleted 2, remove 2 with create lock: 6, get 4", "");
  SENDS(s, "deleted 4", "get 6, list"); /* whose it is was not told */
  HEARS(a, "get 6, list: 5 6, get 5", "");
  HEARS(a, "deleted 5", "granted");
  CHECK_INT(1006, (int)token_of(a));
}

STORY("is told whose its node is by the next of ours, who waits for it") {
  struct actor *a = COMES_BACK(s);
  happens(s, "deleted 2, remove 2 with create lock: 5");
  struct actor *b = ACQUIRE(s);
  SENDS(s, "get 4, get 3", "create lock, get 5");
  SENDS(s, "create lock: 6, get 5, deleted 3", "list"); /* and not "get 5" */
  HEARS(a, "list: 4 5 6, deleted 4", "granted");
  HEARD(b, "");
  CHECK_INT(1005, (int)token_of(a));
}

STORY("looks for its node if the one of its name is another session's") {
  struct actor *a = COMES_BACK(s);
  happens(s, "deleted 2, remove 2 with create lock: 6, get 4, deleted 4");
  HEARS(a, "get 6: theirs 1006, list: 5 6", "");
  SENT(s, "unwatch 6, create lock, list");
}

STORY("asks for each by itself if the next one does not want to wait") {
  COMES_BACK(s, .tries = true);
  SENT(s, "remove 2, create lock, list");
}

STORY("makes its node by itself if the old one was gone") {
  struct actor *a = COMES_BACK(s);
  SENT(s, "remove 2 with create lock, get 4");
  happens(s, "deleted 2"); /* by somebody else */
  exchange_fails(s, REPLY_NO_NODE, REPLY_UNDONE);
  SENT(s, "create lock");
  HEARS(a, "get 4, create lock: 6, deleted 4, list: 6", "granted");
}

STORY("makes the directory if that is gone, and tries each by itself") {
  COMES_BACK(s);
  SENT(s, "remove 2 with create lock, get 4");
  exchange_fails(s, REPLY_UNDONE, REPLY_NO_NODE);
  SENT(s, "remove 2, mkdir /lock");
}

STORY("asks whose its node is before it deletes it, when it gives up") {
  struct actor *a = COMES_BACK(s);
  cancel(a);
  HEARD(a, "refused: cancelled");
  happens(s, "deleted 2, remove 2 with create lock: 6, get 4, ask about 6");
  SENT(s, "unwatch 4, remove 6");
}

STORY("tries again what could not be sent, the delete first") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 2, list: 1 2 3 4, get 2, get 1, deleted 1");
  together(s);
  release(a);
  ACQUIRE(s);
  cannot_send(s, true);
  apart(s);
  SENT(s, "");
  cannot_send(s, false);
  SENDS(s, "100 ms", "remove 2, create lock, get 4");
}
