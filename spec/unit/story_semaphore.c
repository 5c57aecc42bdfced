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
