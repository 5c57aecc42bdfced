/* Directories: missing, denied, or at the end of their numbers. */
#include "protocol/op.h"
#include "stage.h"

ABOUT("The protocol, below a directory,");

STORY("makes a missing directory, as a container, and then its node") {
  struct actor *a = ACQUIRE(s, .path = "/app/lock");
  answers(s, "create lock", REPLY_NO_NODE);
  answers(s, "list", REPLY_NO_NODE);
  answers(s, "mkdir /app/lock", REPLY_NO_NODE);
  confirms(s, "mkdir /app, mkdir /app/lock");
  SENT(s, "create lock, list");
  made(s, 1);
  shows(s, "1");
  HEARD(a, "granted");
}

STORY("lets those that come meanwhile wait until the directory is made") {
  ACQUIRE(s);
  answers(s, "create lock", REPLY_NO_NODE);
  answers(s, "list", REPLY_NO_NODE);
  SENT(s, "mkdir /lock");
  struct actor *b = ACQUIRE(s);
  SENT(s, "");
  confirms(s, "mkdir /lock");
  SENT(s, "create lock, create lock, list");
  HEARD(b, "");
}

STORY("makes a persistent directory where servers know no containers") {
  ACQUIRE(s);
  answers(s, "create lock", REPLY_NO_NODE);
  answers(s, "list", REPLY_NO_NODE);
  answers(s, "mkdir /lock", REPLY_UNIMPLEMENTED);
  confirms(s, "mkdir /lock for good");
  SENT(s, "create lock, list");
}

STORY("makes a missing chroot for good: it is the application's",
      .chroot = "/app") {
  ACQUIRE(s, .path = "/app/lock");
  answers(s, "create lock", REPLY_NO_NODE);
  answers(s, "list", REPLY_NO_NODE);
  answers(s, "mkdir /app/lock", REPLY_NO_NODE);
  confirms(s, "mkdir /app for good, mkdir /app/lock");
}

STORY("makes what is above its chroot for others, too",
      .chroot = "/all/apps/app") {
  ACQUIRE(s, .path = "/all/apps/app/lock");
  answers(s, "create lock", REPLY_NO_NODE);
  answers(s, "list", REPLY_NO_NODE);
  answers(s, "mkdir /all/apps/app/lock", REPLY_NO_NODE);
  answers(s, "mkdir /all/apps/app for good", REPLY_NO_NODE);
  answers(s, "mkdir /all/apps for good for others too", REPLY_NO_NODE);
  answers(s, "mkdir /all for good for others too", REPLY_OK);
  answers(s, "mkdir /all/apps for good for others too", REPLY_OK);
  confirms(s, "mkdir /all/apps/app for good, mkdir /all/apps/app/lock");
}

STORY("rehearses, where it doubts its ACL, once in a connection",
      .doubts_acl = true) {
  struct actor *a = ACQUIRE(s, .path = "/a/lock");
  answers(s, "create lock", REPLY_NO_NODE);
  answers(s, "list", REPLY_NO_NODE);
  answers(s, "rehearse /a/lock", REPLY_NO_NODE);
  answers(s, "rehearse /a", REPLY_OK);
  confirms(s, "mkdir /a, mkdir /a/lock");
  SENT(s, "create lock, list");
  HEARD(a, "");
  reconnects(s);
  shows(s, "");
  answers(s, "create lock", REPLY_NO_NODE); /* it was deleted meanwhile */
  answers(s, "list", REPLY_NO_NODE);
  SENT(s, "rehearse /a/lock");
  disconnects(s); /* no answer: it is asked again */
  connects(s);
  SENT(s, "rehearse /a/lock");
}

STORY("makes nothing that would shut out itself", .doubts_acl = true) {
  struct actor *a = ACQUIRE(s, .path = "/a/lock");
  answers(s, "create lock", REPLY_NO_NODE);
  answers(s, "list", REPLY_NO_NODE);
  answers(s, "rehearse /a/lock", REPLY_NO_NODE);
  answers(s, "rehearse /a", REASON_ACL);
  HEARD(a, "refused: denied, removed, forgotten");
  CHECK_INT(REASON_ACL, reason_of(a));
  CHECK_TEXT("cannot create /a", denial_of(a));
  SENT(s, "");
  struct actor *b = ACQUIRE(s, .path = "/b/lock");
  answers(s, "create lock", REPLY_NO_NODE);
  answers(s, "list", REPLY_NO_NODE);
  answers(s, "rehearse /b/lock", REPLY_NODE_EXISTS); /* somebody else has */
  SENT(s, "create lock, list");
  HEARD(b, "");
}

STORY("refuses what may not be created, made or listed, by what forbids it") {
  struct actor *a = ACQUIRE(s), *b = ACQUIRE(s, .path = "/b/lock");
  struct actor *c = ACQUIRE(s, .path = "/c");
  answers(s, "create lock", REPLY_AUTH_FAILED);
  HEARD(a, "refused: auth, removed, forgotten");
  CHECK_INT(REPLY_AUTH_FAILED, reason_of(a));
  CHECK_TEXT("cannot create a node /lock", denial_of(a));
  answers(s, "list", REPLY_OK);
  answers(s, "create lock", REPLY_NO_NODE);
  answers(s, "list", REPLY_NO_NODE);
  made(s, 1);
  answers(s, "list", REPLY_NO_AUTH);
  HEARD(c, "refused: denied");
  CHECK_INT(REPLY_NO_AUTH, reason_of(c)); /* not that of another */
  CHECK_TEXT("cannot list /c", denial_of(c));
  answers(s, "mkdir /b/lock", REPLY_INVALID_ACL);
  HEARD(b, "refused: invalid, removed, forgotten");
  CHECK_INT(REPLY_INVALID_ACL, reason_of(b));
  CHECK_TEXT("cannot create /b/lock", denial_of(b));
  confirms(s, "remove 1");
}

STORY("deletes a directory whose numbers end, once it is empty") {
  struct actor *a = ACQUIRE(s);
  made(s, 2147483000);
  shows(s, "2147483000");
  HEARD(a, ""); /* nobody is granted by such a number */
  confirms(s, "remove 2147483000");
  HEARD(a, "");
  confirms(s, "look at /lock, remove /lock");
  SENT(s, "create lock, list");
  answers(s, "create lock", REPLY_NO_NODE);
  answers(s, "list", REPLY_NO_NODE);
  confirms(s, "mkdir /lock");
  made(s, 0);
  shows(s, "0");
  HEARD(a, "granted");
}

STORY("keeps a directory whose numbers end if it has data of somebody's") {
  struct actor *a = ACQUIRE(s);
  made(s, 2147483000);
  shows(s, "2147483000");
  confirms(s, "remove 2147483000");
  others_say(s, "mine");
  confirms(s, "look at /lock");
  HEARD(a, "refused: invalid, removed, forgotten");
  CHECK_INT(REASON_COUNTER_AT_END, reason_of(a));
  SENT(s, "");
}

STORY("does not mind who deletes a directory whose numbers end") {
  struct actor *a = ACQUIRE(s);
  made(s, 2147483000);
  shows(s, "2147483000");
  struct actor *hasty = ACQUIRE(s, .tries = true);
  HEARD(hasty, ""); /* those inside are on their way out */
  confirms(s, "remove 2147483000, look at /lock");
  answers(s, "remove /lock", REPLY_NO_NODE);
  SENT(s, "create lock, create lock, list");
  HEARD(a, "");
  HEARD(hasty, "");
}

STORY("refuses where a directory whose numbers end may not be deleted") {
  struct actor *a = ACQUIRE(s);
  made(s, 2147483000);
  shows(s, "2147483000");
  confirms(s, "remove 2147483000, look at /lock");
  answers(s, "remove /lock", REPLY_NO_AUTH);
  HEARD(a, "refused: denied, removed, forgotten");
}

STORY("comes back after a while to a directory that is not empty yet") {
  struct actor *a = ACQUIRE(s);
  made(s, 2147483000);
  shows(s, "2147483000");
  confirms(s, "remove 2147483000, look at /lock");
  answers(s, "remove /lock", REPLY_NOT_EMPTY);
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
  made(s, 2147483000);
  shows(s, "2147483000");
  confirms(s, "remove 2147483000, look at /lock");
  for (int i = 0; i < 90; i++) {
    answers(s, "remove /lock", REPLY_NOT_EMPTY);
    passes(s, 100);
  }
  HEARD(a, "");
  CHECK(lease_of(s) > 0);
}

STORY("looks again, after a timeout, whether its numbers have come to an end") {
  struct actor *a = ACQUIRE(s);
  made(s, 2147483000);
  shows(s, "2147483000");
  confirms(s, "remove 2147483000, look at /lock");
  for (int i = 0; i < 101; i++) {
    answers(s, "remove /lock", REPLY_NOT_EMPTY);
    passes(s, 100);
  }
  SENT(s, "create lock, list");
  made(s, 8); /* somebody has made the directory anew */
  shows(s, "8");
  HEARD(a, "granted");
}
