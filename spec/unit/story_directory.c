/* Directories: missing, denied, or at the end of their numbers. */
#include "protocol/op.h"
#include "stage.h"

ABOUT("The protocol, below a directory,");

STORY("makes a missing directory, as a container, and then its node") {
  struct actor *a = ACQUIRE(s, .path = "/app/lock");
  happens(s,
         "create lock: no node, list: no node, mkdir /app/lock: no node, "
         "mkdir /app, mkdir /app/lock");
  SENT(s, "create lock, list");
  happens(s, "create lock: 1, list: 1");
  HEARD(a, "granted");
}

STORY("lets those that come meanwhile wait until the directory is made") {
  ACQUIRE(s);
  happens(s, "create lock: no node, list: no node");
  SENT(s, "mkdir /lock");
  struct actor *b = ACQUIRE(s);
  SENT(s, "");
  happens(s, "mkdir /lock");
  SENT(s, "create lock, create lock, list");
  HEARD(b, "");
}

STORY("makes a persistent directory where servers know no containers") {
  ACQUIRE(s);
  happens(s,
         "create lock: no node, list: no node, mkdir /lock: unimplemented, "
         "mkdir /lock for good");
  SENT(s, "create lock, list");
}

STORY("makes a missing chroot for good: it is the application's",
      .chroot = "/app") {
  ACQUIRE(s, .path = "/app/lock");
  happens(s,
         "create lock: no node, list: no node, mkdir /app/lock: no node, "
         "mkdir /app for good, mkdir /app/lock");
}

STORY("makes what is above its chroot for others, too",
      .chroot = "/all/apps/app") {
  ACQUIRE(s, .path = "/all/apps/app/lock");
  happens(s,
         "create lock: no node, list: no node, "
         "mkdir /all/apps/app/lock: no node, "
         "mkdir /all/apps/app for good: no node, "
         "mkdir /all/apps for all: no node, "
         "mkdir /all for all: ok, "
         "mkdir /all/apps for all: ok, "
         "mkdir /all/apps/app for good, mkdir /all/apps/app/lock");
}

STORY("rehearses, where it doubts its ACL, once in a connection",
      .doubts_acl = true) {
  struct actor *a = ACQUIRE(s, .path = "/a/lock");
  happens(s,
         "create lock: no node, list: no node, rehearse /a/lock: no node, "
         "rehearse /a: ok, mkdir /a, mkdir /a/lock");
  SENT(s, "create lock, list");
  HEARD(a, "");
  reconnects(s);
  /* it was deleted meanwhile */
  happens(s, "list: nobody, create lock: no node");
  happens(s, "list: no node");
  SENT(s, "rehearse /a/lock");
  disconnects(s); /* no answer: it is asked again */
  connects(s);
  SENT(s, "rehearse /a/lock");
}

STORY("makes nothing that would shut out itself", .doubts_acl = true) {
  struct actor *a = ACQUIRE(s, .path = "/a/lock");
  happens(s, "create lock: no node, list: no node, rehearse /a/lock: no node");
  answers(s, "rehearse /a", REASON_ACL);
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

STORY("refuses what may not be created, made or listed, by what forbids it") {
  struct actor *a = ACQUIRE(s), *b = ACQUIRE(s, .path = "/b/lock");
  struct actor *c = ACQUIRE(s, .path = "/c");
  happens(s, "create lock: auth failed");
  HEARD(a, "refused: auth, removed, forgotten");
  CHECK_INT(REPLY_AUTH_FAILED, reason_of(a));
  CHECK_TEXT("cannot create a node /lock", denial_of(a));
  happens(s,
         "list: ok, create lock: no node, list: no node, create lock: 1, "
         "list: no auth");
  HEARD(c, "refused: denied");
  CHECK_INT(REPLY_NO_AUTH, reason_of(c)); /* not that of another */
  CHECK_TEXT("cannot list /c", denial_of(c));
  happens(s, "mkdir /b/lock: invalid acl");
  HEARD(b, "refused: invalid, removed, forgotten");
  CHECK_INT(REPLY_INVALID_ACL, reason_of(b));
  CHECK_TEXT("cannot create /b/lock", denial_of(b));
  happens(s, "remove 1");
}

STORY("deletes a directory whose numbers end, once it is empty") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 2147483000, list: 2147483000");
  HEARD(a, ""); /* nobody is granted by such a number */
  happens(s, "remove 2147483000");
  HEARD(a, "");
  happens(s, "look at /lock, remove /lock");
  SENT(s, "create lock, list");
  happens(s,
         "create lock: no node, list: no node, mkdir /lock, create lock: 0, "
         "list: 0");
  HEARD(a, "granted");
}

STORY("keeps a directory whose numbers end if it has data of somebody's") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 2147483000, list: 2147483000, remove 2147483000");
  others_say(s, "mine");
  happens(s, "look at /lock");
  HEARD(a, "refused: invalid, removed, forgotten");
  CHECK_INT(REASON_COUNTER_AT_END, reason_of(a));
  SENT(s, "");
}

STORY("does not mind who deletes a directory whose numbers end") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 2147483000, list: 2147483000");
  struct actor *hasty = ACQUIRE(s, .tries = true);
  HEARD(hasty, ""); /* those inside are on their way out */
  happens(s, "remove 2147483000, look at /lock, remove /lock: no node");
  SENT(s, "create lock, create lock, list");
  HEARD(a, "");
  HEARD(hasty, "");
}

STORY("refuses where a directory whose numbers end may not be deleted") {
  struct actor *a = ACQUIRE(s);
  happens(s,
         "create lock: 2147483000, list: 2147483000, "
         "remove 2147483000, look at /lock, remove /lock: no auth");
  HEARD(a, "refused: denied, removed, forgotten");
}

STORY("comes back after a while to a directory that is not empty yet") {
  struct actor *a = ACQUIRE(s);
  happens(s,
         "create lock: 2147483000, list: 2147483000, "
         "remove 2147483000, look at /lock, remove /lock: not empty");
  passes(s, 99);
  SENT(s, "");
  HEARD(a, "");
  struct actor *b = ACQUIRE(s, .tries = true);
  HEARD(b, "refused: busy, removed, forgotten");
  passes(s, 1);
  SENT(s, "remove /lock");
}

STORY("counts the refusal to delete what is not empty as a round") {
  struct actor *a = ACQUIRE(s);
  happens(s,
         "create lock: 2147483000, list: 2147483000, "
         "remove 2147483000, look at /lock");
  for (int i = 0; i < 90; i++) {
    happens(s, "remove /lock: not empty");
    passes(s, 100);
  }
  HEARD(a, "");
  CHECK(lease_of(s) > 0);
}

STORY("looks again, after a timeout, whether its numbers have come to an end") {
  struct actor *a = ACQUIRE(s);
  happens(s,
         "create lock: 2147483000, list: 2147483000, "
         "remove 2147483000, look at /lock");
  for (int i = 0; i < 101; i++) {
    happens(s, "remove /lock: not empty");
    passes(s, 100);
  }
  SENT(s, "create lock, list");
  happens(s, "create lock: 8"); /* somebody has made the directory anew */
  happens(s, "list: 8");
  HEARD(a, "granted");
}
