/* The members of a double barrier. */
#include "stage.h"

ABOUT("The protocol, for a double barrier's members,");

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

/* Inside, with node 2. */
static struct actor *inside(struct stage *s) {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  happens(s, "create member: 2, exists ready: no node, list: 1m 2, get 2");
  HEARS(a, "mkdir ready for all: theirs 1100", "granted");
  SENDS(s, "unwatch ready", "");
  return a;
}

STORY("leaves `ready` to those who have come since") {
  struct actor *a = inside(s), *d = depart(a);
  happens(s, "list all of /lock: 2 ready");
  HEARS(d, "remove ready of 12: undone", "all left, forgotten");
  HEARS(a, "deleted 2, remove 2", "removed, forgotten");
  SENT(s, "");
}

STORY("ends where nobody may list the members") {
  struct actor *a = inside(s), *d = depart(a);
  HEARS(d, "list all of /lock: no auth", "refused: denied, forgotten");
  CHECK_INT(REPLY_NO_AUTH, reason_of(d));
  SENT(s, "remove 2");
  HEARD(a, "");
}
