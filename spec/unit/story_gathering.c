/* The members of a double barrier, until they are let in. */
#include "memory.h"
#include "protocol/op.h"
#include "stage.h"

ABOUT("The protocol, for a double barrier's members,");

/* One of two, with node 2: there is no `ready`, and nobody else. */
static struct actor *member(struct stage *s, struct wish wish) {
  wish.lock = MEMBER;
  wish.permits = 2;
  struct actor *a = acquire(s, wish);
  test_compare_text("sent", "create member, exists /lock/ready, list", sent(s));
  stage_made(s, 2);
  stage_answers(s, "exists /lock/ready", REPLY_NO_NODE);
  stage_shows(s, "2");
  stage_confirms(s, "get 2");
  test_compare_text("heard", "", heard(a));
  test_compare_text("sent", "", sent(s));
  return a;
}

/* One of two, with node 2, that has found enough of them, and no `ready`. */
static struct actor *opener(struct stage *s) {
  struct actor *a = acquire(s, (struct wish){.lock = MEMBER, .permits = 2});
  stage_made(s, 2);
  stage_answers(s, "exists /lock/ready", REPLY_NO_NODE);
  stage_shows(s, "1m 2");
  stage_confirms(s, "get 2");
  test_compare_text("sent", "mkdir /lock/ready for good for others too",
                    sent(s));
  test_compare_text("heard", "", heard(a));
  return a;
}

/* Is `ready` asked for again, as it is each sixth of a timeout? */
static bool asks_again(struct stage *s) {
  return strcmp("exists /lock/ready", sent(s)) == 0;
}

static void proves_lease(struct stage *s) {
  for (int i = 0; i < 10000 && lease_of(s) < 0; i++) {
    if (asks_again(s)) stage_reads(s, "exists /lock/ready", false, 1003);
    passes(s, 1);
  }
  test_compare("it stands", true, lease_of(s) > 0);
}

STORY("lets in the last one, who makes `ready`") {
  struct actor *a = opener(s);
  reads(s, "mkdir /lock/ready for good for others too", false, 1003);
  HEARD(a, "granted");
  CHECK_INT(1002, token_of(a));
  confirms(s, "unwatch /lock/ready");
  SENT(s, "");
  release(a);
  deleted(s, "2");
  confirms(s, "remove 2");
  HEARD(a, "removed, forgotten");
  CHECK_INT(0, counted(s, "watches"));
}

STORY("lets in one that is enough by itself") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 1, .tries = true);
  made(s, 2);
  answers(s, "exists /lock/ready", REPLY_NO_NODE);
  shows(s, "2");
  confirms(s, "get 2");
  reads(s, "mkdir /lock/ready for good for others too", false, 1003);
  HEARD(a, "granted");
}

STORY("lets in the others when they hear of `ready`") {
  struct actor *a = member(s, (struct wish){0});
  CHECK_TEXT("queued", state_of(a));
  for (int i = 0; i < 1000; i++) {
    passes(s, 100);
    if (asks_again(s)) answers(s, "exists /lock/ready", REPLY_NO_NODE);
  }
  HEARD(a, "");
  SENT(s, "");
  changed(s, "ready"); /* somebody has made it */
  HEARD(a, "granted");
  SENT(s, "");
}

STORY("counts whatever another client may have made for a member") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 4);
  made(s, 7);
  answers(s, "exists /lock/ready", REPLY_NO_NODE);
  shows(s, "zoe amy 7 ready"); /* (this is none) */
  confirms(s, "get 7");
  HEARD(a, "");
  SENT(s, "");
  struct actor *b = ACQUIRE(s, .lock = MEMBER, .permits = 4);
  made(s, 8);
  shows(s, "zoe amy 7m 8m ready");
  SENT(s, "mkdir /lock/ready for good for others too, get 8");
  HEARD(b, "");
}

STORY("lets in all of its session with one `ready` and one watch of it") {
  together(s);
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  struct actor *b = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  apart(s);
  SENT(s, "create member, exists /lock/ready, create member, list");
  made(s, 1);
  answers(s, "exists /lock/ready", REPLY_NO_NODE);
  made(s, 2);
  shows(s, "1 2");
  SENT(s, "get 1, mkdir /lock/ready for good for others too, get 2");
  confirms(s, "get 1");
  reads(s, "mkdir /lock/ready for good for others too", false, 1003);
  HEARD(a, "granted");
  HEARD(b, ""); /* is its node there still? */
  SENT(s, "");
  confirms(s, "get 2");
  HEARD(b, "granted");
  confirms(s, "unwatch /lock/ready");
}

/* An older `ready`. */

STORY("is not let in by a `ready` that is older than its node") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  made(s, 2);
  reads(s, "exists /lock/ready", false, 1001);
  shows(s, "2 ready");
  confirms(s, "get 2");
  HEARD(a, "");
  SENT(s, "");
  deleted(s, "ready");
  answers(s, "exists /lock/ready", REPLY_NO_NODE);
  HEARD(a, "");
  changed(s, "ready");
  HEARD(a, "granted");
}

STORY("makes an older `ready` anew where there are enough") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  made(s, 2);
  reads(s, "exists /lock/ready", false, 1001);
  shows(s, "1m 2 ready");
  SENT(s, "get 2, remake /lock/ready for good for others too");
  confirms(s, "get 2");
  deleted(s, "ready");
  HEARD(a, "");
  confirms(s, "remake /lock/ready for good for others too");
  HEARD(a, "granted");
  reads(s, "exists /lock/ready", false, 1003);
  confirms(s, "unwatch /lock/ready");
}

STORY("does not mind who has deleted an older `ready` before") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  made(s, 2);
  reads(s, "exists /lock/ready", false, 1001);
  shows(s, "1m 2 ready");
  confirms(s, "get 2");
  deleted(s, "ready");
  answers(s, "remake /lock/ready for good for others too", REPLY_NO_NODE);
  answers(s, "exists /lock/ready", REPLY_NO_NODE);
  shows(s, "1m 2");
  confirms(s, "mkdir /lock/ready for good for others too");
  HEARD(a, "granted");
}

STORY("is not let in by a `ready` that its session has made before its node") {
  struct actor *a = opener(s);
  struct actor *b = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  SENT(s, "create member, list");
  changed(s, "ready"); /* (a server tells of it before its answer) */
  HEARD(a, "granted");
  reads(s, "mkdir /lock/ready for good for others too", false, 1003);
  made(s, 4);
  SENT(s, "exists /lock/ready");
  shows(s, "1m 2m 4m ready"); /* two of them are of the run before */
  HEARD(b, "");
  reads(s, "exists /lock/ready", false, 1003);
  SENT(s, "get 4, remake /lock/ready for good for others too");
  confirms(s, "get 4, remake /lock/ready for good for others too");
  HEARD(b, "granted");
}

STORY(
    "makes `ready` once more where it was there, and its watch tells nothing") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  made(s, 2);
  answers(s, "exists /lock/ready", REPLY_NO_NODE);
  shows(s, "1m 2");
  confirms(s, "get 2");
  answers(s, "mkdir /lock/ready for good for others too", REPLY_NODE_EXISTS);
  HEARD(a, "");
  answers(s, "exists /lock/ready", REPLY_NO_NODE);
  confirms(s, "mkdir /lock/ready for good for others too");
  HEARD(a, "granted");
}

/* Somebody else's. */

STORY("is let in by a `ready` that somebody else was quicker to make") {
  struct actor *a = opener(s);
  changed(s, "ready");
  HEARD(a, "granted");
  answers(s, "mkdir /lock/ready for good for others too", REPLY_NODE_EXISTS);
  SENT(s, "");
}

STORY(
    "is let in by a `ready` that is gone already: it was made after its node") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  made(s, 2);
  answers(s, "exists /lock/ready", REPLY_NO_NODE);
  changed(s, "ready");
  shows(s, "2"); /* the others have begun to leave */
  answers(s, "exists /lock/ready", REPLY_NO_NODE);
  HEARD(a, "");
  confirms(s, "get 2");
  HEARD(a, "granted");
}

STORY("is not let in by a `ready` that was made before its node was known") {
  struct actor *b = member(s, (struct wish){0});
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  SENT(s, "create member, list");
  changed(s, "ready");
  HEARD(b, "granted");
  made(s, 4);
  shows(s, "2 4");
  answers(s, "exists /lock/ready", REPLY_NO_NODE);
  SENT(s, "get 4, mkdir /lock/ready for good for others too");
  HEARD(a, "");
}

STORY("is not let in by a `ready` that was written") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  made(s, 2);
  reads(s, "exists /lock/ready", false, 1001);
  shows(s, "2 ready");
  confirms(s, "get 2");
  changed(s, "ready");
  HEARD(a, "");
  reads(s, "exists /lock/ready", false, 1001);
  HEARD(a, "");
}

TEST("keeps in the next connection that it was let in, if its node is there") {
  for (int there = 0; there < 2; there++) {
    struct stage *s = BEGIN();
    struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
    made(s, 2);
    answers(s, "exists /lock/ready", REPLY_NO_NODE);
    changed(s, "ready");
    reconnects(s);
    shows(s, there ? "2" : "1m");
    HEARD(a, "");
    if (there) {
      confirms(s, "get 2");
      HEARD(a, "granted");
    } else {
      SENT(s, "create member, exists /lock/ready, ask about 2, list");
    }
    END(s);
  }
}

STORY("is let in by `ready`, and its own answer comes after that") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  made(s, 2);
  answers(s, "exists /lock/ready", REPLY_NO_NODE);
  changed(s, "ready");
  SENT(s, "list, exists /lock/ready");
  shows(s, "1m 2 ready");
  reads(s, "exists /lock/ready", false, 1003);
  HEARD(a, ""); /* is our own node there? */
  confirms(s, "get 2");
  HEARD(a, "granted");
  confirms(s, "unwatch /lock/ready");
  SENT(s, "");
}

/* Connections. */

STORY("looks for `ready` in the next connection, and is let in by it") {
  struct actor *a = member(s, (struct wish){0});
  reconnects(s);
  SENT(s, "list");
  shows(s, "1m 2 ready");
  SENT(s, "get 2, exists /lock/ready");
  confirms(s, "get 2");
  HEARD(a, "");
  reads(s, "exists /lock/ready", false, 1003);
  HEARD(a, "granted");
}

STORY("is let in though others have left before it had a connection again") {
  struct actor *a = member(s, (struct wish){0});
  reconnects(s);
  shows(s, "2 ready");
  confirms(s, "get 2");
  reads(s, "exists /lock/ready", false, 1003);
  HEARD(a, "granted");
}

STORY("makes another node before it makes `ready` whose answer was lost") {
  struct actor *a = opener(s);
  reconnects(s);
  HEARD(a, "");
  shows(s, "1m 2");
  confirms(s, "get 2");
  answers(s, "exists /lock/ready", REPLY_NO_NODE); /* it may be made late */
  SENT(s, "remove 2, unwatch /lock/ready");
  deleted(s, "2");
  confirms(s, "remove 2");
  confirms(s, "unwatch /lock/ready");
  SENT(s, "create member, list, exists /lock/ready");
  HEARD(a, "");
}

STORY("is let in by the `ready` that it has made where the answer was lost") {
  struct actor *a = opener(s);
  reconnects(s);
  shows(s, "1m 2 ready");
  confirms(s, "get 2");
  reads(s, "exists /lock/ready", false, 1003);
  HEARD(a, "granted");
  SENT(s, "unwatch /lock/ready");
}

STORY("finds its node where the answer to its create was lost") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  made_unheard(s, 2);
  reconnects(s);
  SENT(s, "list");
  shows(s, "1m 2m");
  SENT(s, "get 2, exists /lock/ready");
  answers(s, "get 2", REPLY_LOST);
  reconnects(s);
  shows(s, "1m 2m");
  confirms(s, "get 2");
  answers(s, "exists /lock/ready", REPLY_NO_NODE);
  reads(s, "mkdir /lock/ready for good for others too", false, 1003);
  HEARD(a, "granted");
  CHECK_INT(1002, token_of(a));
}

STORY("makes a node in the next session") {
  struct actor *a = member(s, (struct wish){0});
  expires(s);
  HEARD(a, "");
  connects_anew(s);
  SENT(s, "create member, exists /lock/ready, list");
  HEARD(a, "");
}

STORY("asks again a little later where it could not open") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  made(s, 2);
  reads(s, "exists /lock/ready", false, 1001);
  cannot_send(s, true);
  shows(s, "1m 2 ready");
  cannot_send(s, false);
  SENT(s, "");
  passes(s, 100);
  SENT(s, "get 2, remake /lock/ready for good for others too");
  HEARD(a, "");
}

/* The lease. */

STORY("is not let in while the lease does not stand: it looks again") {
  struct actor *a = member(s, (struct wish){0});
  rounds_by_hand(s, true);
  stops_for(s, 20000);
  changed(s, "ready"); /* it lay in the socket, and so did the answer */
  SENT(s, "round");
  HEARD(a, "");
  rounds_by_hand(s, false);
  proves_lease(s);
  SENT(s, "list");
  shows(s, "1m 2 ready");
  HEARD(a, "granted");
}

STORY(
    "is not let in by its own `ready` either while the lease does not stand") {
  struct actor *a = opener(s);
  stops_for(s, 20000);
  reads(s, "mkdir /lock/ready for good for others too", false, 1003);
  HEARD(a, "");
  reads(s, "exists /lock/ready", false, 1003);
  proves_lease(s);
  SENT(s, "list");
  shows(s, "1m 2 ready");
  HEARD(a, "granted");
}

/* Its own node. */

STORY("begins again when its node is deleted while it waits") {
  struct actor *a = member(s, (struct wish){0});
  deleted(s, "2");
  HEARD(a, "");
  SENT(s, "unwatch /lock/ready, create member, list");
  confirms(s, "unwatch /lock/ready");
  made(s, 3);
  SENT(s, "exists /lock/ready");
  shows(s, "1m 3");
  answers(s, "exists /lock/ready", REPLY_NO_NODE);
  SENT(s, "get 3, mkdir /lock/ready for good for others too");
}

STORY("is not let in where its node was deleted before it could be watched") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  made(s, 2);
  answers(s, "exists /lock/ready", REPLY_NO_NODE);
  shows(s, "1m 2");
  SENT(s, "get 2, mkdir /lock/ready for good for others too");
  answers(s, "get 2", REPLY_NO_NODE);
  HEARD(a, "");
  SENT(s, "unwatch /lock/ready, create member, list");
  reads(s, "mkdir /lock/ready for good for others too", false, 1003);
  HEARD(a, ""); /* that is for others */
}

STORY("begins again where a list does not show its node any more") {
  struct actor *a = member(s, (struct wish){0});
  reconnects(s);
  shows(s, "1m");
  HEARD(a, "");
  SENT(s, "create member, exists /lock/ready, ask about 2, list");
}

STORY("begins again where its directory is gone when it makes `ready`") {
  struct actor *a = opener(s);
  answers(s, "mkdir /lock/ready for good for others too", REPLY_NO_NODE);
  HEARD(a, "");
  SENT(s, "list");
  answers(s, "list", REPLY_NO_NODE);
  confirms(s, "unwatch 2, unwatch /lock/ready");
  answers(s, "create member", REPLY_NO_NODE);
  answers(s, "ask about 2", REPLY_NO_NODE);
  answers(s, "list", REPLY_NO_NODE);
  HEARD(a, "");
}

STORY("loses its place inside when its node is deleted") {
  struct actor *a = opener(s);
  reads(s, "mkdir /lock/ready for good for others too", false, 1003);
  deleted(s, "2");
  HEARD(a, "granted, lost: deleted, removed, forgotten");
}

/* Its end, if it is another one. */

STORY("is refused as busy, if it does not wait, where there are not enough") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2, .tries = true);
  made(s, 2);
  answers(s, "exists /lock/ready", REPLY_NO_NODE);
  shows(s, "2");
  HEARD(a, "refused: busy");
  CHECK_TEXT("nobody", rival_of(a));
  SENT(s, "get 2, unwatch /lock/ready, remove 2");
  confirms(s, "get 2, unwatch /lock/ready, remove 2");
  HEARD(a, "removed, forgotten");
}

STORY("is let in, if it does not wait, where it makes enough") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2, .tries = true);
  made(s, 2);
  answers(s, "exists /lock/ready", REPLY_NO_NODE);
  shows(s, "1m 2");
  confirms(s, "get 2");
  reads(s, "mkdir /lock/ready for good for others too", false, 1003);
  HEARD(a, "granted");
}

STORY("gives its node back at the deadline, when cancelled, and when closed") {
  struct actor *a = member(s, (struct wish){.within = 3000});
  passes(s, 3000);
  HEARD(a, "refused: timeout");
  SENT(s, "exists /lock/ready, remove 2");
  answers(s, "exists /lock/ready", REPLY_NO_NODE);
  deleted(s, "2");
  confirms(s, "remove 2, unwatch /lock/ready");
  HEARD(a, "removed, forgotten");
  a = member(s, (struct wish){0});
  cancel(a);
  HEARD(a, "refused: cancelled");
  SENT(s, "unwatch /lock/ready, remove 2");
  deleted(s, "2");
  confirms(s, "unwatch /lock/ready, remove 2");
  HEARD(a, "removed, forgotten");
  CHECK_INT(0, counted(s, "watches"));
  a = member(s, (struct wish){0});
  close_session(s);
  HEARD(a, "refused: closed, removed, forgotten");
}

STORY("is told of a deadline without a connection as of a disconnection") {
  struct actor *a = member(s, (struct wish){.within = 3000});
  disconnects(s);
  passes(s, 3000);
  HEARD(a, "refused: disconnected");
}

STORY("is not let in by what it has asked for before it was cancelled") {
  struct actor *a = opener(s);
  cancel(a);
  HEARD(a, "refused: cancelled");
  reads(s, "mkdir /lock/ready for good for others too", false, 1003);
  HEARD(a, "");
  confirms(s, "unwatch /lock/ready, remove 2");
  deleted(s, "2");
  HEARD(a, "removed, forgotten");
}

STORY("keeps what it has asked for when it is closed, until it is answered") {
  struct actor *a = opener(s);
  close_session(s);
  HEARD(a, "refused: closed, removed, forgotten");
}

TEST("is refused where `ready` may not be made") {
  static const int codes[] = {REPLY_NO_AUTH, REPLY_NO_CHILDREN_FOR_EPHEMERALS};
  for (int i = 0; i < 2; i++) {
    struct stage *s = BEGIN();
    struct actor *a = opener(s);
    answers(s, "mkdir /lock/ready for good for others too", codes[i]);
    HEARD(a, i ? "refused: invalid" : "refused: denied");
    CHECK_INT(codes[i], reason_of(a));
    CHECK_TEXT("cannot create ready in /lock", denial_of(a));
    confirms(s, "unwatch /lock/ready, remove 2");
    END(s);
  }
}

STORY("is refused where an older `ready` may not be deleted") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  made(s, 2);
  reads(s, "exists /lock/ready", false, 1001);
  shows(s, "1m 2 ready");
  confirms(s, "get 2");
  answers(s, "remake /lock/ready for good for others too", REPLY_NO_AUTH);
  HEARD(a, "refused: denied");
  CHECK_INT(REPLY_NO_AUTH, reason_of(a));
  CHECK_TEXT("cannot create ready in /lock", denial_of(a));
  deleted(s, "2");
  confirms(s, "unwatch /lock/ready, remove 2");
  SENT(s, "");
}

STORY("refuses none of the others for that, nor one that was let in") {
  together(s);
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  struct actor *b = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  struct actor *few = ACQUIRE(s, .lock = MEMBER, .permits = 9);
  apart(s);
  made(s, 2);
  answers(s, "exists /lock/ready", REPLY_NO_NODE);
  made(s, 3);
  made(s, 4);
  shows(s, "2 3 4");
  SENT(s, "get 2, mkdir /lock/ready for good for others too, get 3, get 4");
  answers(s, "get 2", REPLY_NO_AUTH); /* (whoever has changed its ACL) */
  SENT(s, "");
  HEARD(a, "");
  release(few); /* (it holds nothing) */
  struct actor *late = ACQUIRE(s, .lock = MEMBER, .permits = 9);
  answers(s, "mkdir /lock/ready for good for others too", REPLY_NO_AUTH);
  HEARD(a, "refused: denied");
  HEARD(b, "refused: denied");
  HEARD(few, "");
  HEARD(late, "");
}

STORY("is let in by somebody else's `ready` though its own may not be made") {
  together(s);
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  struct actor *b = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  apart(s);
  made(s, 2);
  answers(s, "exists /lock/ready", REPLY_NO_NODE);
  made(s, 3);
  shows(s, "2 3");
  confirms(s, "get 2");
  changed(s, "ready");
  answers(s, "mkdir /lock/ready for good for others too", REPLY_NO_AUTH);
  HEARD(a, "granted");
  HEARD(b, "");
  confirms(s, "get 3");
  HEARD(b, "granted");
}

STORY("does not wait where nobody may list the members, or make a node") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  answers(s, "create member", REPLY_NO_AUTH);
  HEARD(a, "refused: denied, removed, forgotten");
  answers(s, "exists /lock/ready", REPLY_NO_NODE);
  shows(s, "");
  confirms(s, "unwatch /lock/ready");
  a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  made(s, 2);
  answers(s, "exists /lock/ready", REPLY_NO_NODE);
  answers(s, "list", REPLY_NO_AUTH);
  HEARD(a, "refused: denied");
  CHECK_TEXT("cannot list /lock", denial_of(a));
}

/* No memory. */

STORY("looks a little later where there was no memory for a watch") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  made(s, 2);
  answers(s, "exists /lock/ready", REPLY_NO_NODE);
  shows_then_no_memory(s, "1m 2");
  HEARD(a, "");
  SENT(s, "");
  passes(s, 100);
  shows(s, "1m 2");
  confirms(s, "get 2");
  reads(s, "mkdir /lock/ready for good for others too", false, 1003);
  HEARD(a, "granted");
}

STORY("asks about `ready` behind the list where there was no memory before") {
  together(s);
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  memory_refuse(1);
  memory_spare(2); /* for the stage */
  apart(s);
  memory_refuse(0);
  SENT(s, "create member, list");
  made(s, 2);
  shows(s, "1m 2");
  SENT(s, "get 2, exists /lock/ready");
  confirms(s, "get 2");
  answers(s, "exists /lock/ready", REPLY_NO_NODE);
  reads(s, "mkdir /lock/ready for good for others too", false, 1003);
  HEARD(a, "granted");
}

STORY("opens a little later where there was no memory for that") {
  struct actor *a = member(s, (struct wish){0});
  reconnects(s);
  shows(s, "1m 2");
  confirms(s, "get 2");
  memory_refuse(1);
  answers(s, "exists /lock/ready", REPLY_NO_NODE);
  memory_refuse(0);
  SENT(s, "");
  passes(s, 100);
  SENT(s, "mkdir /lock/ready for good for others too");
  reads(s, "mkdir /lock/ready for good for others too", false, 1003);
  HEARD(a, "granted");
}
