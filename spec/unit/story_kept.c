/* Nodes that a server refuses to delete. */
#include "stage.h"

ABOUT("The protocol, when its node may not be deleted,");

STORY("says so once, and tries again, less and less often") {
  struct actor *a = HOLDER(s, 1);
  release(a);
  HEARS(a, "remove 1: no auth", "kept");
  static const int pauses[] = {200, 400, 800, 1600, 3200, 6400, 6400};
  for (size_t i = 0; i < sizeof pauses / sizeof *pauses; i++) {
    CHECK(passes_until_asked(s, pauses[i]) >= pauses[i] / 2);
    happens(s, "remove 1: no auth");
  }
  HEARD(a, "");
  CHECK_INT(1, counted(s, "pending_releases"));
  CHECK_INT(1, counted(s, "refused_releases"));
  HEARS(a, "6400 ms, remove 1", "removed, forgotten");
  CHECK_INT(0, counted(s, "pending_releases"));
  CHECK_INT(0, counted(s, "refused_releases"));
}

STORY("refuses who waits behind it, and who comes, without another node") {
  struct actor *a = HOLDER(s, 1), *b = ACQUIRE(s);
  happens(s, "create lock: 2, list: 1 2, get 2, get 1");
  release(a);
  HEARS(a, "remove 1: no auth", "kept");
  HEARD(b, "refused: denied");
  CHECK_INT(REPLY_NO_AUTH, reason_of(b));
  CHECK_TEXT("cannot delete earlier nodes of this session /lock", denial_of(b));
  SENT(s, "remove 2");
  HEARS(b, "remove 2", "removed, forgotten");
  struct actor *c = ACQUIRE(s), *d = ACQUIRE(s, .tries = true);
  HEARD(c, "refused: denied, removed, forgotten");
  HEARD(d, "refused: denied, removed, forgotten");
  SENT(s, "unwatch 2");
  struct actor *e = ACQUIRE(s, .path = "/other"); /* where nothing is wrong */
  SENT(s, "create lock, list");
  HEARD(e, "");
}

STORY("tells a permit of its gate's node, and lets no other ask") {
  struct actor *a = ACQUIRE(s, .lock = PERMIT, .permits = 2);
  HEARS(a, "create lock: 7, list: 7, create permit: 2, list: 2", "granted");
  HEARS(a, "remove 7: no auth", "kept");
  struct actor *b = ACQUIRE(s, .lock = PERMIT, .permits = 2);
  HEARD(b, "refused: denied, removed, forgotten");
  CHECK_TEXT("cannot delete earlier nodes of this session /lock/locks",
             denial_of(b));
  release(a);
  HEARS(a, "remove 2", "removed");
}
