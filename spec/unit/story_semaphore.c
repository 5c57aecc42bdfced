/* The semaphore: the gate, the permits, the watched directory. */
#include "stage.h"

ABOUT("The protocol, for a semaphore,");

/* Inside the inner mutex, with permit 2 made and not yet counted. */
static struct actor *inside(struct stage *s, struct wish wish) {
  wish.lock = PERMIT;
  struct actor *a = acquire(s, wish);
  SENT(s, "create lock, list");
  SENDS(s, "create lock: 7, list: 7", "create permit, list");
  HEARS(a, "create permit: 2", "");
  return a;
}

STORY("lets one into the semaphore's gate, who makes a permit and counts") {
  struct actor *a = inside(s, (struct wish){.permits = 2});
  HEARS(a, "list: 1p 2p", "granted");
  CHECK_INT(1002, token_of(a));
  CHECK_INT(1, counted(s, "grants")); /* the gate's is none */
  happens(s, "remove 7");             /* the next may ask */
  release(a);
  HEARS(a, "remove 2", "removed, forgotten");
}

STORY(
    "waits inside the gate until there are no more permits than there may be") {
  struct actor *a = inside(s, (struct wish){.permits = 2});
  HEARS(a, "list: 0p 1p 2", "");
  SENT(s, "get 2, list and watch");
  HEARS(a, "get 2, list and watch: 0p 1p 2", "");
  SENDS(s, "children /lock/leases", "list and watch");
  HEARS(a, "list and watch: 0p 2", "granted");
  happens(s, "unwatch children, remove 7");
}

STORY("gives its permit back when it loses the gate, and begins again") {
  struct actor *a = inside(s, (struct wish){.permits = 1});
  HEARS(a, "list: 1p 2", "");
  /* somebody deletes the inner node */
  HEARS(a, "get 2, list and watch: 1p 2, 2000 ms, get 7, deleted locks:7", "");
  SENDS(s, "unwatch children, deleted leases:2, remove 2", "create lock, list");
  HEARD(a, "");
}

STORY("asks for the gate again, 0.1 s later, when there was no memory") {
  together(s);
  ACQUIRE(s, .lock = PERMIT);
  memory_refuse(1);
  apart(s);
  memory_refuse(0);
  SENT(s, "");
  SENDS(s, "100 ms", "create lock, list");
}

STORY("refuses a permit for what its gate is refused for") {
  struct actor *denied = ACQUIRE(s, .lock = PERMIT);
  HEARS(denied, "create lock: no auth", "refused: denied, removed, forgotten");
  CHECK_INT(REPLY_NO_AUTH, reason_of(denied));
}

STORY("refuses a permit at its deadline, wherever it waits") {
  struct actor *in = inside(s, (struct wish){.within = 3000});
  struct actor *out = ACQUIRE(s, .lock = PERMIT, .within = 3000);
  happens(s, "list: 1p 2, create lock: 8, list: 7 8, 3000 ms");
  HEARD(in, "refused: timeout");
  HEARD(out, "refused: timeout, removed");
  SENT(s, "get 2, list and watch, get 8, get 7, remove 2, remove 7, remove 8");
  happens(s, "get 2, list and watch: 1p 2, get 8, get 7, remove 2, remove 7");
  HEARS(in, "remove 8", "removed, forgotten");
  HEARD(out, "forgotten");
}

STORY("lists again when there was no memory for a change of the directory") {
  struct actor *a = inside(s, (struct wish){.permits = 1});
  happens(s, "list: 1p 2, get 2, list and watch: 1p 2, children /lock/leases");
  shows_without_memory(s);
  HEARD(a, "");
  HEARS(a, "100 ms, list: 2", "granted");
}
