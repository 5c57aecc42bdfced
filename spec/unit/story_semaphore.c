/* The semaphore: the gate, the permits, the watched directory. */
#include "memory.h"
#include "protocol/op.h"
#include "stage.h"

ABOUT("The protocol, for a semaphore,");

/* Inside the inner mutex, with permit 2 made and not yet counted. */
static struct actor *inside(struct stage *s, struct wish wish) {
  wish.lock = PERMIT;
  struct actor *a = acquire(s, wish);
  SENT(s, "create lock, list");
  happens(s, "create lock: 7, list: 7");
  SENT(s, "create permit, list");
  happens(s, "create permit: 2");
  HEARD(a, "");
  return a;
}

STORY("lets one into the semaphore's gate, who makes a permit and counts") {
  struct actor *a = inside(s, (struct wish){.permits = 2});
  happens(s, "list: 1p 2p");
  HEARD(a, "granted");
  CHECK_INT(1002, token_of(a));
  CHECK_INT(1, counted(s, "grants")); /* the gate's is none */
  happens(s, "remove 7");              /* the next may ask */
  release(a);
  happens(s, "remove 2");
  HEARD(a, "removed, forgotten");
}

STORY(
    "waits inside the gate until there are no more permits than there may be") {
  struct actor *a = inside(s, (struct wish){.permits = 2});
  happens(s, "list: 0p 1p 2");
  HEARD(a, "");
  SENT(s, "get 2, list and watch");
  happens(s, "get 2, list and watch: 0p 1p 2");
  HEARD(a, "");
  happens(s, "children /lock/leases");
  SENT(s, "list and watch");
  happens(s, "list and watch: 0p 2");
  HEARD(a, "granted");
  happens(s, "unwatch children, remove 7");
}

STORY("keeps the others of its session before the gate meanwhile") {
  struct actor *first = inside(s, (struct wish){.permits = 2});
  struct actor *second = ACQUIRE(s, .lock = PERMIT, .permits = 2);
  SENT(s, "create lock, list");
  happens(s, "list: 1p 2");
  HEARD(first, "granted");
  happens(s, "create lock: 8, list: 7 8");
  SENT(s, "remove 7, get 8, get 7");
  happens(s, "remove 7, get 8, get 7: no node");
  SENT(s, "create permit, list");
  happens(s, "create permit: 3, list: 1p 2 3");
  HEARD(second, "");
}

STORY("gives its permit back when it loses the gate, and begins again") {
  struct actor *a = inside(s, (struct wish){.permits = 1});
  happens(s, "list: 1p 2");
  HEARD(a, "");
  happens(s, "get 2, list and watch: 1p 2");
  passes(s, 2000);
  happens(s, "get 7, deleted locks:7"); /* somebody deletes the inner node */
  HEARD(a, "");
  happens(s, "unwatch children, deleted leases:2, remove 2");
  SENT(s, "create lock, list");
  HEARD(a, "");
}

STORY("tells one that does not wait that somebody is inside the gate") {
  struct actor *a = ACQUIRE(s, .lock = PERMIT, .tries = true);
  happens(s, "create lock: 7, list: 6 7");
  HEARD(a, "refused: busy, removed");
  happens(s, "remove 7");
  HEARD(a, "forgotten");
}

STORY("asks for the gate again, 0.1 s later, when there was no memory") {
  together(s);
  ACQUIRE(s, .lock = PERMIT);
  memory_refuse(1);
  apart(s);
  memory_refuse(0);
  SENT(s, "");
  passes(s, 100);
  SENT(s, "create lock, list");
}

STORY("refuses a permit for what its gate is refused for") {
  struct actor *denied = ACQUIRE(s, .lock = PERMIT);
  happens(s, "create lock: no auth");
  HEARD(denied, "refused: denied, removed, forgotten");
  CHECK_INT(REPLY_NO_AUTH, reason_of(denied));
  happens(s, "list: nobody");
  struct actor *large = ACQUIRE(s, .lock = PERMIT, .bytes = 100000);
  disconnects(s);
  for (int i = 0; i < 3; i++) {
    connects(s);
    happens(s, "list: nobody");
    passes(s, 1000);
    looks_for_late_nodes(s);
    disconnects(s);
  }
  connects(s);
  happens(s, "list: nobody");
  HEARD(large, "refused: invalid, removed, forgotten");
  CHECK_INT(REASON_TOO_LARGE, reason_of(large));
  CHECK(bytes_of(large) > 100000 && bytes_of(large) < 100200);
}

STORY("refuses a permit at its deadline, wherever it waits") {
  struct actor *in = inside(s, (struct wish){.within = 3000});
  struct actor *out = ACQUIRE(s, .lock = PERMIT, .within = 3000);
  happens(s, "list: 1p 2, create lock: 8, list: 7 8");
  passes(s, 3000);
  HEARD(in, "refused: timeout");
  HEARD(out, "refused: timeout, removed");
  SENT(s, "get 2, list and watch, get 8, get 7, remove 2, remove 7, remove 8");
  happens(s,
         "get 2, list and watch: 1p 2, "
         "get 8, get 7, remove 2, remove 7, remove 8");
  HEARD(in, "removed, forgotten");
  HEARD(out, "forgotten");
}

STORY("lists again when there was no memory for a change of the directory") {
  struct actor *a = inside(s, (struct wish){.permits = 1});
  happens(s, "list: 1p 2, get 2, list and watch: 1p 2, children /lock/leases");
  shows_without_memory(s);
  HEARD(a, "");
  passes(s, 100);
  happens(s, "list: 2");
  HEARD(a, "granted");
}

STORY("does not take a watch of a directory for armed that it takes away") {
  struct actor *a = ACQUIRE(s, .watches_parent = true);
  happens(s, "create lock: 2, list: 1 2, get 2");
  struct actor *b = ACQUIRE(s, .watches_parent = true);
  SENT(s, "list and watch, create lock, list and watch");
  happens(s, "list and watch: 2");
  HEARD(a, "granted"); /* it needs no watch any more */
  happens(s, "create lock: 3");
  SENT(s, "unwatch children");
  happens(s, "list and watch: 2 3");
  HEARD(b, "");
  happens(s, "unwatch children");
  SENT(s, "get 3, list and watch");
}

STORY("shows no list to a permit that is gone while its gate is not") {
  struct actor *a = inside(s, (struct wish){.permits = 2});
  happens(s, "list: 2");
  HEARD(a, "granted");
  happens(s, "remove 7: throttled"); /* the gate's node stays */
  release(a);
  happens(s, "remove 2");
  HEARD(a, "removed");
  struct actor *b = ACQUIRE(s, .lock = PERMIT, .permits = 2);
  happens(s, "create lock: 8, list: 8"); /* an operator has deleted it */
  happens(s, "create permit: 3, list: 3");
  HEARD(a, "");
  HEARD(b, "granted");
}
