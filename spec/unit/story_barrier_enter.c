/* The members of a double barrier, until they are let in. */
#include "stage.h"

ABOUT("The protocol, for a double barrier's members,");

/* One of two, with node 2: there is no `ready`, and nobody else. */
static struct actor *member(struct stage *s, struct wish wish) {
  wish.lock = MEMBER;
  wish.permits = 2;
  struct actor *a = acquire(s, wish);
  stage_sends(s, "", "create member, exists ready, list");
  stage_hears(a, "create member: 2, exists ready: no node, list: 2, get 2", "");
  stage_sends(s, "", "");
  return a;
}

/* One of two, with node 2, that has found enough of them, and no `ready`. */
static struct actor *opener(struct stage *s) {
  struct actor *a = acquire(s, (struct wish){.lock = MEMBER, .permits = 2});
  stage_happens(s, "create member: 2, exists ready: no node, list: 1m 2");
  stage_sends(s, "get 2", "mkdir ready for all");
  stage_hears(a, "", "");
  return a;
}

/* Is `ready` asked for again, as it is each sixth of a timeout? */
static bool asks_again(struct stage *s) {
  return strcmp("exists ready", sent(s)) == 0;
}

static void proves_lease(struct stage *s) {
  for (int i = 0; i < 10000 && lease_of(s) < 0; i++) {
    if (asks_again(s)) stage_happens(s, "exists ready: theirs 1003");
    passes(s, 1);
  }
  test_compare("it stands", true, lease_of(s) > 0);
}

STORY("makes another node before it makes `ready` whose answer was lost") {
  struct actor *a = opener(s);
  HEARS(a, "reconnects", "");
  /* it may be made late */
  happens(s, "list: 1m 2, get 2, exists ready: no node");
  SENT(s, "remove 2, unwatch ready");
  happens(s, "deleted 2, remove 2, unwatch ready");
  SENT(s, "create member, list, exists ready");
  HEARD(a, "");
}

STORY("is not let in while the lease does not stand: it looks again") {
  struct actor *a = member(s, (struct wish){0});
  rounds_by_hand(s, true);
  stops_for(s, 20000);
  happens(s, "changed ready"); /* it lay in the socket, and so did the answer */
  SENT(s, "round");
  HEARD(a, "");
  rounds_by_hand(s, false);
  proves_lease(s);
  SENT(s, "list");
  HEARS(a, "list: 1m 2 ready", "granted");
}

STORY("refuses only the members for whom `ready` may not be made") {
  together(s);
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  struct actor *b = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  struct actor *few = ACQUIRE(s, .lock = MEMBER, .permits = 9);
  apart(s);
  happens(s, "create member: 2, exists ready: no node, create member: 3");
  happens(s, "create member: 4, list: 2 3 4");
  SENT(s, "get 2, mkdir ready for all, get 3, get 4");
  happens(s, "get 2: no auth"); /* (whoever has changed its ACL) */
  SENT(s, "");
  HEARD(a, "");
  release(few); /* (it holds nothing) */
  struct actor *late = ACQUIRE(s, .lock = MEMBER, .permits = 9);
  HEARS(a, "mkdir ready for all: no auth", "refused: denied");
  HEARD(b, "refused: denied");
  HEARD(few, "");
  HEARD(late, "");
}
