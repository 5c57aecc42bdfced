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

STORY("keeps the lowest inside until the others have gone, the highest first") {
  struct actor *a = inside(s, 2), *d = DEPART(a);
  HEARS(d, "list all of /lock: 2 zoe xan ready", "");
  CHECK_TEXT("held", state_of(a));
  SENT(s, "get zoe");
  happens(s, "get zoe, 1000 ms, deleted zoe");
  CHECK_TEXT("held", state_of(a));
  happens(s, "list all of /lock: 2 xan ready, get xan, deleted xan");
  happens(s, "list all of /lock: 2 ready");
  shuts(s, a, 2, d);
}

STORY("lets everybody else go at once, and wait for the lowest") {
  struct actor *a = inside(s, 2), *d = DEPART(a);
  happens(s, "list all of /lock: 1m 2 zoe ready");
  CHECK_TEXT("leaving", state_of(a));
  SENT(s, "remove 2, get 1");
  HEARS(d, "remove 2", "");
  SENDS(s, "get 1, deleted 1m", "unwatch 2, list all of /lock");
  /* it waits until none of them is left */
  HEARS(d, "unwatch 2, list all of /lock: zoe ready", "");
  happens(s, "get zoe, deleted zoe, list all of /lock: nobody");
  HEARD(d, "all left, forgotten");
  HEARD(a, "removed, forgotten");
  SENT(s, "");
}

STORY("has all left where the directory is gone") {
  struct actor *a = inside(s, 2), *d = DEPART(a);
  HEARS(d, "list all of /lock: no node", "all left, forgotten");
  SENT(s, "remove 2");
  HEARD(a, "");
}

STORY("lists for the first time behind a committed round, and then without") {
  struct actor *a = inside(s, 2);
  rounds_by_hand(s, true);
  struct actor *d = DEPART(a);
  SENT(s, "round, list all of /lock");
  happens(s, "round, list all of /lock: 2 zoe ready, get zoe, deleted zoe");
  SENT(s, "list all of /lock");
  HEARD(d, "");
}

STORY("waits for the next lowest though its own node is there still") {
  struct actor *a = inside(s, 2), *d = DEPART(a);
  happens(s, "list all of /lock: 1m 2 xan zoe ready, remove 2: throttled");
  SENDS(s, "get 1, deleted 1m, list all of /lock: 2 xan zoe ready", "get xan");
  HEARD(d, "");
  HEARD(a, "");
}

/* Connections. */

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

STORY("asks a little later where it could not ask") {
  struct actor *a = inside(s, 2);
  cannot_send(s, true);
  struct actor *d = DEPART(a);
  cannot_send(s, false);
  SENDS(s, "100 ms", "list all of /lock");
  cannot_send(s, true);
  happens(s, "list all of /lock: 2 ready"); /* nor is its own node deleted */
  cannot_send(s, false);
  SENT(s, "");
  HEARD(d, "");
  SENDS(s, "100 ms", "remove 2, list all of /lock");
  is_removed(s, a, 2);
  happens(s, "list all of /lock: ready");
  HEARS(d, "remove ready of 11", "all left, forgotten");
}

STORY("does not take another node for the one it has waited for") {
  struct actor *a = inside(s, 2), *d = DEPART(a);
  happens(s, "list all of /lock: 1m 2 ready");
  is_removed(s, a, 2);
  happens(s, "get 1: theirs 1001, reconnects, get 1: theirs 1200");
  SENT(s, "list all of /lock, unwatch 1");
  HEARD(d, "");
}

STORY("keeps inside nobody whose node a list does not show") {
  struct actor *a = inside(s, 2), *d = DEPART(a);
  happens(s, "list all of /lock: zoe ready");
  CHECK_TEXT("leaving", state_of(a));
  SENT(s, "remove 2, get zoe");
  HEARD(d, "");
}

/* Its end, if it is another one. */

STORY("does not wait, if it is told so, and gives its node back") {
  struct actor *a = inside(s, 2), *d = DEPART(a, .tries = true);
  HEARS(d, "list all of /lock: 2 zoe ready", "refused: timeout, forgotten");
  CHECK_TEXT("leaving", state_of(a));
  SENT(s, "remove 2");
  is_removed(s, a, 2);
  a = inside(s, 3);
  d = DEPART(a, .tries = true);
  HEARS(d, "list all of /lock: 1m 3 ready", "refused: timeout, forgotten");
  is_removed(s, a, 3);
  a = inside(s, 4);
  d = DEPART(a, .tries = true); /* nobody is left */
  happens(s, "list all of /lock: 4 ready");
  shuts(s, a, 4, d);
}

STORY("does not wait for a connection either, if it is told so") {
  struct actor *a = inside(s, 2), *b = inside(s, 3);
  struct actor *before = DEPART(a, .tries = true);
  HEARS(before, "disconnects", "refused: disconnected, forgotten");
  CHECK_TEXT("leaving", state_of(a));
  struct actor *after = DEPART(b, .tries = true);
  HEARD(after, "refused: disconnected, forgotten");
  CHECK_TEXT("leaving", state_of(b));
}

STORY("ends at its deadline, wherever it waits, and its node goes") {
  struct actor *a = inside(s, 2), *d = DEPART(a, .within = 1000);
  HEARS(d, "1000 ms", "refused: timeout"); /* (it is asked still) */
  SENT(s, "list all of /lock, remove 2");
  HEARS(d, "list all of /lock: 2 zoe ready", "forgotten");
}

STORY("ends when it is cancelled, before and behind an answer") {
  struct actor *a = inside(s, 2), *b = inside(s, 3);
  struct actor *d = DEPART(a), *e = DEPART(b);
  /* without memory for it */
  happens(s, "list all of /lock: 1m 2 3 ready, list all of /lock");
  cancel(d);
  HEARD(d, "refused: cancelled, forgotten");
  cancel(d);
  cancel(e);
  HEARD(e, "refused: cancelled, forgotten");
  SENT(s, "remove 2, get 1, remove 3");
  happens(s, "remove 2, get 1, remove 3, unwatch 2, unwatch 1, unwatch 3");
}

STORY("ends where credentials are refused, and does not begin there") {
  struct actor *a = inside(s, 2), *b = inside(s, 3), *d = DEPART(a);
  happens(s, "list all of /lock: 2 3 zoe ready");
  refuses_credentials(s);
  HEARD(d, "refused: auth, forgotten");
  CHECK_INT(REASON_CREDENTIALS, reason_of(d));
  CHECK_TEXT("leaving", state_of(a));
  d = DEPART(b);
  HEARD(d, "refused: auth, forgotten");
  CHECK_TEXT("leaving", state_of(b));
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

TEST("lists again a little later where there was no memory") {
  /* For the names; the list of them; the path of one; its watch. */
  for (int i = 0; i < 4; i++) {
    struct stage *s = BEGIN();
    struct actor *a = inside(s, 2), *d = DEPART(a);
    names_without_memory(s, "2 zoe ready", i);
    HEARD(d, "");
    SENT(s, "");
    SENDS(s, "100 ms, list all of /lock: 2 zoe ready", "get zoe");
    HEARD(d, "");
    END(s);
  }
}

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
