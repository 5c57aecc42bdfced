/* The queue: who waits for whom, and how each learns of its turn. */
#include "stage.h"

ABOUT("The protocol, in the queue,");

STORY("grants a free lock after one create and one list") {
  struct actor *a = ACQUIRE(s);
  SENT(s, "create lock, list");
  HEARS(a, "create lock: 1", "");
  HEARS(a, "list: 1", "granted");
  CHECK_INT(1001, token_of(a));
  SENT(s, "");
  release(a);
  HEARD(a, "");
  HEARS(a, "remove 1", "removed, forgotten");
  SENT(s, "");
}

STORY("looks again every so often, if it is told to") {
  struct actor *a = ACQUIRE(s, .polls = 100, .within = 250);
  SENDS(s, "create lock: 2, list: 1 2, get 2, 99 ms", "");
  SENDS(s, "1 ms", "list");
  HEARS(a, "list: 1 2, 100 ms, list: 1 2, 50 ms", "refused: timeout");
}

STORY("keeps everybody's place when one in the middle leaves") {
  struct actor *middle = WAITER(s), *last = ACQUIRE(s);
  /* 1 and 2 are watched for both */
  SENDS(s, "create lock: 3, list: 1 2 3, get 3", "");
  cancel(middle);
  HEARD(middle, "refused: cancelled");
  HEARS(middle, "remove 2, deleted 2", "removed, forgotten");
  HEARD(last, "");
  SENT(s, "list");
  HEARS(last, "list: 1 3, deleted 1", "granted");
}

STORY("serves all waiters of a path with one list and shared watches") {
  struct actor *all[5];
  together(s);
  for (int i = 0; i < 5; i++) all[i] = ACQUIRE(s);
  apart(s);
  SENT(s,
       "create lock, create lock, create lock, create lock, create lock, "
       "list");
  for (int i = 0; i < 5; i++) happens(s, "create lock: %d", 2 + i);
  SENDS(s, "list: 1 2 3 4 5 6", "get 2, get 1, get 3, get 4, get 5, get 6");
  for (int i = 0; i < 5; i++) HEARD(all[i], "");
}

STORY("loses a hold whose node somebody deletes") {
  struct actor *a = WAITER(s);
  HEARS(a, "deleted 1", "granted");
  HEARS(a, "deleted 2", "lost: deleted, removed, forgotten");
  SENT(s, "");
}

STORY("watches a holder's own node after a sixth of the timeout") {
  struct actor *a = HOLDER(s, 1);
  SENDS(s, "1600 ms", "");
  HEARS(a, "100 ms, get 1, deleted 1", "lost: deleted, removed, forgotten");
}

STORY("watches a holder's own node at once if its owner wants it") {
  struct actor *a = HOLDER(s, 1);
  wants_watch(a);
  happens(s, "get 1");
  wants_watch(a);
  SENT(s, "");
  HEARS(a, "deleted 1", "lost: deleted, removed, forgotten");
}

STORY("believes an owner that has seen its node gone, and deletes it") {
  struct actor *a = HOLDER(s, 1);
  sees_deletion(a);
  HEARD(a, "lost: deleted");
  HEARS(a, "remove 1: no node", "removed, forgotten");
}

STORY("tells one that does not wait that the lock is taken, and by whom") {
  struct actor *a = ACQUIRE(s, .tries = true);
  HEARS(a, "create lock: 2, list: 1 2", "refused: busy");
  CHECK_INT(0, counted(s, "timeouts"));
  SENDS(s, "remove 2", ""); /* no watch */
}

STORY("waits behind a node of its session that is on its way out, if need be") {
  struct actor *first = HOLDER(s, 1);
  release(first);
  struct actor *second = ACQUIRE(s, .tries = true);
  /* nobody holds */
  HEARS(second, "remove 1: throttled, create lock: 2, list: 1 2", "");
  HEARS(second, "get 2, get 1, 300 ms, deleted 1", "granted");
}

STORY("tells one that does not wait of its own session's holder") {
  HOLDER(s, 1, .handoffs = 3, .data = "we");
  struct actor *a = ACQUIRE(s, .handoffs = 3, .tries = true);
  HEARD(a, "refused: busy, removed, forgotten");
  CHECK_TEXT("we, who holds", rival_of(a));
  SENT(s, "");
}

STORY("names one that waits where none is known to hold") {
  others_say(s, "job 7");
  struct actor *a = ACQUIRE(s, .within = 1000);
  happens(s, "create lock: 4, list: 1 2 3 4, get 4, get 3, get 2, 1000 ms");
  HEARD(a, "refused: timeout");
  CHECK_TEXT("job 7", rival_of(a));
}

STORY("tells a holder that somebody asks for the lock, once") {
  struct actor *a = HOLDER(s, 1);
  happens(s, "2000 ms, get 1");
  asks_to_let_go(s);
  HEARS(a, "changed 1", "");
  HEARS(a, "get 1", "revoked");
  HEARS(a, "changed 1, get 1", "");
}

STORY("tells a holder what another of its session has read in its node") {
  struct actor *a = HOLDER(s, 1);
  asks_to_let_go(s); /* nobody watches that node yet */
  struct actor *b = ACQUIRE(s);
  /* there is nothing to ask */
  SENDS(s, "create lock: 2, list: 1 2, get 2, get 1, 2000 ms", "");
  HEARD(a, "revoked");
  HEARD(b, "");
  HEARS(a, "2000 ms", "");
}

STORY("tells one after its grant what was asked of it before") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 2");
  asks_to_let_go(s);
  HEARS(a, "list: 1 2, get 2, get 1", "");
  HEARS(a, "deleted 1", "granted, revoked");
}
