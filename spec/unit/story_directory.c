/* Directories: missing, denied, or at the end of their numbers. */
#include "stage.h"

ABOUT("The protocol, below a directory,");

STORY("makes a persistent directory where servers know no containers") {
  ACQUIRE(s);
  happens(s, "create lock: no node, list: no node, mkdir /lock: unimplemented");
  SENDS(s, "mkdir /lock for good", "create lock, list");
}

STORY("makes what is above its chroot for others, too",
      .chroot = "/all/apps/app") {
  ACQUIRE(s, .path = "/all/apps/app/lock");
  happens(s, "create lock: no node, list: no node");
  happens(s, "mkdir /all/apps/app/lock: no node");
  happens(s, "mkdir /all/apps/app for good: no node");
  happens(s, "mkdir /all/apps for all: no node, mkdir /all for all: ok");
  happens(s, "mkdir /all/apps for all: ok, mkdir /all/apps/app for good");
  happens(s, "mkdir /all/apps/app/lock");
}

STORY("rehearses, where it doubts its ACL, once in a connection",
      .doubts_acl = true) {
  struct actor *a = ACQUIRE(s, .path = "/a/lock");
  happens(s, "create lock: no node, list: no node, rehearse /a/lock: no node");
  SENDS(s, "rehearse /a: ok, mkdir /a, mkdir /a/lock", "create lock, list");
  HEARD(a, "");
  reconnects(s);
  /* it was deleted meanwhile */
  happens(s, "list: nobody, create lock: no node, list: no node");
  SENT(s, "rehearse /a/lock");
  disconnects(s); /* no answer: it is asked again */
  SENDS(s, "connects", "rehearse /a/lock");
}

STORY("makes nothing that would shut out itself", .doubts_acl = true) {
  struct actor *a = ACQUIRE(s, .path = "/a/lock");
  happens(s, "create lock: no node, list: no node, rehearse /a/lock: no node");
  happens(s, "rehearse /a: code %d", REASON_ACL);
  HEARD(a, "refused: denied, removed, forgotten");
  CHECK_INT(REASON_ACL, reason_of(a));
  CHECK_TEXT("cannot create /a", denial_of(a));
  SENT(s, "");
  struct actor *b = ACQUIRE(s, .path = "/b/lock");
  /* somebody else has */
  happens(s, "create lock: no node, list: no node, rehearse /b/lock: exists");
  SENT(s, "create lock, list");
  HEARD(b, "");
}

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
  for (int i = 0; i < 101; i++) {
    happens(s, "remove /lock: not empty, 100 ms");
  }
  SENT(s, "create lock, list");
  happens(s, "create lock: 8"); /* somebody has made the directory anew */
  HEARS(a, "list: 8", "granted");
}
