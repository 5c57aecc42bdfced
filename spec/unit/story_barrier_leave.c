/* The members of a double barrier, as they leave. */
#include "stage.h"

ABOUT("The protocol, for members that leave a double barrier,");

/* Inside, with node `number`.  By the bytes of the names ours come behind others'
 * ("1m") and "abe", and before "zoe". */
static struct actor *inside(struct stage *s, int number) {
  struct actor *a = acquire(s, (struct wish){.lock = MEMBER, .permits = 2});
  stage_happens(s, "create member: %d, exists ready: no node", number);
  stage_happens(s, "list: 1m %d, get %d", number, number);
  stage_hears(a, "mkdir ready for all: theirs 1100", "granted");
  stage_sends(s, "unwatch ready", "");
  return a;
}

/* The same, and it has left, and its node is gone; or `ready` before it. */
static void is_removed(struct stage *s, struct actor *a, int number) {
  stage_happens(s, "deleted %d, remove %d", number, number);
  stage_hears(a, "", "removed, forgotten");
}
static void shuts(struct stage *s, struct actor *a, int number,
                  struct actor *d) {
  stage_hears(d, "remove ready of 12", "all left, forgotten");
  is_removed(s, a, number);
}

STORY("takes `ready` away with the last one, which waits for nobody") {
  struct actor *a = inside(s, 2), *d = DEPART(a);
  SENT(s, "list all of /lock");
  HEARD(d, "");
  happens(s, "list all of /lock: 2 ready");
  CHECK_TEXT("leaving", state_of(a));
  HEARD(d, "");
  SENT(s, "remove ready of 12, remove 2");
  shuts(s, a, 2, d);
  SENT(s, "");
  CHECK_INT(0, counted(s, "watches"));
}

STORY("lists and deletes `ready` again where the answer was lost") {
  struct actor *a = inside(s, 2), *d = DEPART(a);
  happens(s, "list all of /lock: 2 ready, reconnects");
  SENT(s, "ask about 2, list all of /lock");
  happens(s, "ask about 2, list all of /lock: 2 ready, remove 2");
  HEARD(a, "removed, forgotten");
  HEARS(d, "remove ready of 12", "all left, forgotten");
}

STORY("leaves `ready` to those who have come since") {
  struct actor *a = inside(s, 2), *d = DEPART(a);
  happens(s, "list all of /lock: 2 ready");
  HEARS(d, "remove ready of 12: undone", "all left, forgotten");
  is_removed(s, a, 2);
  SENT(s, "");
}

STORY("ends where nobody may list the members") {
  struct actor *a = inside(s, 2), *d = DEPART(a);
  HEARS(d, "list all of /lock: no auth", "refused: denied, forgotten");
  CHECK_INT(REPLY_NO_AUTH, reason_of(d));
  SENT(s, "remove 2");
  HEARD(a, "");
}

STORY("has all left though `ready` may not be deleted") {
  struct actor *a = inside(s, 2), *d = DEPART(a);
  happens(s, "list all of /lock: 2 ready");
  HEARS(d, "remove ready of 12: no auth", "all left, forgotten");
  is_removed(s, a, 2);
}

/* No memory. */

STORY("lists again, too, where there was none for the answer or for `ready`") {
  struct actor *a = inside(s, 2), *d = DEPART(a);
  happens(s, "list all of /lock, 100 ms, list all of /lock: 1m 2 ready");
  is_removed(s, a, 2);
  happens(s, "get 1, deleted 1m");
  names_without_memory(s, "ready", 2);
  HEARD(d, "");
  happens(s, "100 ms, list all of /lock: ready, remove ready of 11");
  HEARD(d, "all left, forgotten");
}
