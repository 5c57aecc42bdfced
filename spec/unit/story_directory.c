/* Directories at the end of their numbers. */
#include "stage.h"

ABOUT("The protocol, below a directory,");

STORY("comes back after a while to a directory that is not empty yet") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 2147483000, list: 2147483000, remove 2147483000");
  SENDS(s, "look at /lock, remove /lock: not empty, 99 ms", "");
  HEARD(a, "");
  struct actor *b = ACQUIRE(s, .tries = true);
  HEARD(b, "refused: busy, removed, forgotten");
  SENDS(s, "1 ms", "remove /lock");
}

STORY("looks again, after a timeout, whether its numbers have come to an end") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 2147483000, list: 2147483000, remove 2147483000");
  happens(s, "look at /lock");
  for (int i = 0; i < 101; i++) happens(s, "remove /lock: not empty, 100 ms");
  SENT(s, "create lock, list");
  happens(s, "create lock: 8"); /* somebody has made the directory anew */
  HEARS(a, "list: 8", "granted");
}
