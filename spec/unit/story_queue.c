/* The queue: who waits for whom, and how each learns of its turn. */
#include "stage.h"

ABOUT("The protocol, in the queue,");

STORY("watches a holder's own node after a sixth of the timeout") {
  struct actor *a = HOLDER(s, 1);
  SENDS(s, "1600 ms", "");
  HEARS(a, "100 ms, get 1, deleted 1",
        "lost: node_deleted, removed, forgotten");
}

STORY("watches a holder's own node at once if its owner wants it") {
  struct actor *a = HOLDER(s, 1);
  wants_watch(a);
  happens(s, "get 1");
  wants_watch(a);
  SENT(s, "");
  HEARS(a, "deleted 1", "lost: node_deleted, removed, forgotten");
}

STORY("believes an owner that has seen its node gone, and deletes it") {
  struct actor *a = HOLDER(s, 1);
  sees_deletion(a);
  HEARD(a, "lost: node_deleted");
  HEARS(a, "remove 1: no node", "removed, forgotten");
}

STORY("counts nobody ahead less for a node that was gone before the list") {
  struct actor *a = HOLDER(s, 2), *b = ACQUIRE(s);
  happens(s, "create lock: 5, list: 3 4 5, get 5, get 4, get 3");
  release(a);
  HEARS(b, "remove 2: no node, deleted 4", "");
  HEARS(b, "list: 3 5, deleted 3", "granted");
}

STORY("tells one after its grant what was asked of it before") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 2");
  asks_to_let_go(s);
  HEARS(a, "list: 1 2, get 2, get 1", "");
  HEARS(a, "deleted 1", "granted, revoked");
}
