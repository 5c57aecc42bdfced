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
  made(s, 7);
  shows(s, "7");
  SENT(s, "create permit, list");
  made(s, 2);
  HEARD(a, "");
  return a;
}

STORY("lets one into the semaphore's gate, who makes a permit and counts") {
  struct actor *a = inside(s, (struct wish){.permits = 2});
  shows(s, "1p 2p");
  HEARD(a, "granted");
  CHECK_INT(1002, token_of(a));
  CHECK_INT(1, counted(s, "grants")); /* the gate's is none */
  confirms(s, "remove 7");            /* the next may ask */
  release(a);
  confirms(s, "remove 2");
  HEARD(a, "removed, forgotten");
}

STORY(
    "waits inside the gate until there are no more permits than there may be") {
  struct actor *a = inside(s, (struct wish){.permits = 2});
  shows(s, "0p 1p 2");
  HEARD(a, "");
  SENT(s, "get 2, list and watch");
  confirms(s, "get 2");
  shows(s, "0p 1p 2");
  HEARD(a, "");
  children_changed(s, "/lock/leases");
  SENT(s, "list and watch");
  shows(s, "0p 2");
  HEARD(a, "granted");
  confirms(s, "unwatch children, remove 7");
}

STORY("keeps the others of its session before the gate meanwhile") {
  struct actor *first = inside(s, (struct wish){.permits = 2});
  struct actor *second = ACQUIRE(s, .lock = PERMIT, .permits = 2);
  SENT(s, "create lock, list");
  shows(s, "1p 2");
  HEARD(first, "granted");
  made(s, 8);
  shows(s, "7 8");
  SENT(s, "remove 7, get 8, get 7");
  confirms(s, "remove 7, get 8");
  answers(s, "get 7", REPLY_NO_NODE);
  SENT(s, "create permit, list");
  made(s, 3);
  shows(s, "1p 2 3");
  HEARD(second, "");
}

STORY("gives its permit back when it loses the gate, and begins again") {
  struct actor *a = inside(s, (struct wish){.permits = 1});
  shows(s, "1p 2");
  HEARD(a, "");
  confirms(s, "get 2");
  shows(s, "1p 2");
  passes(s, 2000);
  confirms(s, "get 7");
  deleted(s, "locks:7"); /* somebody deletes the inner node */
  HEARD(a, "");
  confirms(s, "unwatch children");
  deleted(s, "leases:2");
  confirms(s, "remove 2");
  SENT(s, "create lock, list");
  HEARD(a, "");
}

STORY("tells one that does not wait that somebody is inside the gate") {
  struct actor *a = ACQUIRE(s, .lock = PERMIT, .tries = true);
  made(s, 7);
  shows(s, "6 7");
  HEARD(a, "refused: busy, removed");
  confirms(s, "remove 7");
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
  answers(s, "create lock", REPLY_NO_AUTH);
  HEARD(denied, "refused: denied, removed, forgotten");
  CHECK_INT(REPLY_NO_AUTH, reason_of(denied));
  shows(s, "");
  struct actor *large = ACQUIRE(s, .lock = PERMIT, .bytes = 100000);
  disconnects(s);
  for (int i = 0; i < 3; i++) {
    connects(s);
    shows(s, "");
    passes(s, 1000);
    looks_for_late_nodes(s);
    disconnects(s);
  }
  connects(s);
  shows(s, "");
  HEARD(large, "refused: invalid, removed, forgotten");
  CHECK_INT(REASON_TOO_LARGE, reason_of(large));
  CHECK(bytes_of(large) > 100000 && bytes_of(large) < 100200);
}

STORY("refuses a permit at its deadline, wherever it waits") {
  struct actor *in = inside(s, (struct wish){.within = 3000});
  struct actor *out = ACQUIRE(s, .lock = PERMIT, .within = 3000);
  shows(s, "1p 2");
  made(s, 8);
  shows(s, "7 8");
  passes(s, 3000);
  HEARD(in, "refused: timeout");
  HEARD(out, "refused: timeout, removed");
  SENT(s, "get 2, list and watch, get 8, get 7, remove 2, remove 7, remove 8");
  confirms(s, "get 2");
  shows(s, "1p 2");
  confirms(s, "get 8, get 7, remove 2, remove 7, remove 8");
  HEARD(in, "removed, forgotten");
  HEARD(out, "forgotten");
}

STORY("lists again when there was no memory for a change of the directory") {
  struct actor *a = inside(s, (struct wish){.permits = 1});
  shows(s, "1p 2");
  confirms(s, "get 2");
  shows(s, "1p 2");
  children_changed(s, "/lock/leases");
  shows_without_memory(s);
  HEARD(a, "");
  passes(s, 100);
  shows(s, "2");
  HEARD(a, "granted");
}

STORY("does not take a watch of a directory for armed that it takes away") {
  struct actor *a = ACQUIRE(s, .watches_parent = true);
  made(s, 2);
  shows(s, "1 2");
  confirms(s, "get 2");
  struct actor *b = ACQUIRE(s, .watches_parent = true);
  SENT(s, "list and watch, create lock, list and watch");
  shows(s, "2");
  HEARD(a, "granted"); /* it needs no watch any more */
  made(s, 3);
  SENT(s, "unwatch children");
  shows(s, "2 3");
  HEARD(b, "");
  confirms(s, "unwatch children");
  SENT(s, "get 3, list and watch");
}

STORY("shows no list to a permit that is gone while its gate is not") {
  struct actor *a = inside(s, (struct wish){.permits = 2});
  shows(s, "2");
  HEARD(a, "granted");
  answers(s, "remove 7", THROTTLED); /* the gate's node stays */
  release(a);
  confirms(s, "remove 2");
  HEARD(a, "removed");
  struct actor *b = ACQUIRE(s, .lock = PERMIT, .permits = 2);
  made(s, 8);
  shows(s, "8"); /* an operator has deleted it */
  made(s, 3);
  shows(s, "3");
  HEARD(a, "");
  HEARD(b, "granted");
}
