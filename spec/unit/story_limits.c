/* Limits: too many contenders, too many paths. */
#include "stage.h"

ABOUT("The protocol, at its limits,");

STORY("lets a thousand of a path have a node, and the others wait in order",
      .timeout = 40000) {
  struct actor *all[1002];
  char list[1000 * 5 + 1] = "";
  together(s);
  for (int i = 0; i < 1002; i++) all[i] = ACQUIRE(s, .lock = READER);
  apart(s);
  for (int i = 0; i < 1000; i++) {
    happens(s, "create read: %d", i);
    sprintf(list + strlen(list), " %d", i);
  }
  happens(s, "list:%s", list);
  HEARD(all[0], "granted");
  HEARD(all[999], "granted");
  HEARD(all[1000], "");
  CHECK_TEXT("parked", state_of(all[1000]));
  struct actor *hasty = ACQUIRE(s, .lock = READER, .tries = true);
  HEARD(hasty, "refused: busy, removed, forgotten");
  SENT(s, "");
  release(all[500]);
  SENDS(s, "remove 500", "create read, list");
  CHECK_TEXT("entering", state_of(all[1000]));
  CHECK_TEXT("parked", state_of(all[1001]));
}

/* A path of 900 bytes that is nobody else's. */
static char *long_path(int number) {
  static char path[1000];
  memset(path, 'x', 900);
  snprintf(path, sizeof path, "/%04d", number);
  path[5] = 'x';
  path[900] = '\0';
  return path;
}

STORY("keeps a session's nodes below what a transaction may have",
      .timeout = 40000) {
  struct actor *holders[2000];
  int n = 0;
  for (; n < 2000; n++) {
    holders[n] = ACQUIRE(s, .path = long_path(n));
    if (strcmp(sent(s), "create lock, list") != 0) break;
    happens(s, "create lock: 1, list: 1");
    HEARD(holders[n], "granted");
  }
  /* Each is the first of its path, so a million bytes are theirs. */
  HEARD(holders[n], "refused: invalid, removed, forgotten");
  CHECK_INT(REASON_NO_ROOM, reason_of(holders[n]));
  CHECK(n > 1000 && n < 1100);
  struct actor *second = ACQUIRE(s, .path = long_path(0));
  struct actor *hasty = ACQUIRE(s, .path = long_path(0), .tries = true);
  HEARD(second, ""); /* waits until there is room */
  HEARD(hasty, "refused: busy, removed, forgotten");
  CHECK_TEXT("parked", state_of(second));
  int left = 0;
  for (; strcmp(state_of(second), "parked") == 0; left++) {
    release(holders[left + 1]);
    happens(s, "remove 1");
  }
  CHECK_TEXT("entering", state_of(second));
  CHECK(left > 200 && left < 300); /* a fifth is for the first of a path */
}

TEST("begins again, with no room left, in the room that its node has had") {
  char node[1000];
  struct stage *s = BEGIN(.timeout = 40000);
  struct actor *first = ACQUIRE(s, .path = long_path(0));
  HEARS(first, "create lock: 1, list: 0 1, get 1, get 0", "");
  for (int i = 1; i < 2000; i++) {
    ACQUIRE(s, .path = long_path(i));
    if (!*sent(s)) break; /* refused */
    happens(s, "create lock: 1, list: 1");
  }
  snprintf(node, sizeof node, "%s:1", long_path(0));
  happens(s, "deleted %s", node);
  HEARD(first, "");
  SENT(s, "unwatch 0, create lock, list");
  END(s);
}

STORY("lets those that waited for room in as they came, whatever their path",
      .timeout = 40000) {
  struct actor *holders[2000], *waiters[3];
  int n = 0;
  for (; n < 850; n++) {
    holders[n] = ACQUIRE(s, .path = long_path(n));
    happens(s, "create lock: 1, list: 1");
  }
  for (int i = 0; i < 3; i++) {
    waiters[i] = ACQUIRE(s, .path = long_path(i));
    CHECK_TEXT("parked", state_of(waiters[i]));
  }
  cancel(waiters[1]);
  HEARD(waiters[1], "refused: cancelled, removed, forgotten");
  SENT(s, "");
  for (int i = 50; strcmp(state_of(waiters[2]), "parked") == 0; i++) {
    release(holders[i]);
    happens(s, "remove 1");
    if (*sent(s)) {
      happens(s, "create lock: 2, list: 1 2, get 2, get 1");
    }
  }
  CHECK_TEXT("queued", state_of(waiters[0])); /* the first of them was first */
}
