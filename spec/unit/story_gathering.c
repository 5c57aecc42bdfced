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
  stage_serves(s, "get 2");
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
  stage_serves(s, "get 2");
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
  serves(s, "mkdir /lock/ready for good for others too: theirs 1003");
  HEARD(a, "granted");
  CHECK_INT(1002, token_of(a));
  serves(s, "unwatch /lock/ready");
  SENT(s, "");
  release(a);
  serves(s, "deleted 2, remove 2");
  HEARD(a, "removed, forgotten");
  CHECK_INT(0, counted(s, "watches"));
}

STORY("lets in one that is enough by itself") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 1, .tries = true);
  serves(s,
         "create member: 2, exists /lock/ready: no node, list: 2, get 2, "
         "mkdir /lock/ready for good for others too: theirs 1003");
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
  serves(s, "changed ready"); /* somebody has made it */
  HEARD(a, "granted");
  SENT(s, "");
}

STORY("counts whatever another client may have made for a member") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 4);
  serves(s,
         "create member: 7, exists /lock/ready: no node, "
         "list: zoe amy 7 ready"); /* (this is none) */
  serves(s, "get 7");
  HEARD(a, "");
  SENT(s, "");
  struct actor *b = ACQUIRE(s, .lock = MEMBER, .permits = 4);
  serves(s, "create member: 8, list: zoe amy 7m 8m ready");
  SENT(s, "mkdir /lock/ready for good for others too, get 8");
  HEARD(b, "");
}

STORY("lets in all of its session with one `ready` and one watch of it") {
  together(s);
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  struct actor *b = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  apart(s);
  SENT(s, "create member, exists /lock/ready, create member, list");
  serves(s,
         "create member: 1, exists /lock/ready: no node, create member: 2, "
         "list: 1 2");
  SENT(s, "get 1, mkdir /lock/ready for good for others too, get 2");
  serves(s, "get 1, mkdir /lock/ready for good for others too: theirs 1003");
  HEARD(a, "granted");
  HEARD(b, ""); /* is its node there still? */
  SENT(s, "");
  serves(s, "get 2");
  HEARD(b, "granted");
  serves(s, "unwatch /lock/ready");
}

/* An older `ready`. */

STORY("is not let in by a `ready` that is older than its node") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  serves(s,
         "create member: 2, exists /lock/ready: theirs 1001, list: 2 ready, "
         "get 2");
  HEARD(a, "");
  SENT(s, "");
  serves(s, "deleted ready, exists /lock/ready: no node");
  HEARD(a, "");
  serves(s, "changed ready");
  HEARD(a, "granted");
}

STORY("makes an older `ready` anew where there are enough") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  serves(s,
         "create member: 2, exists /lock/ready: theirs 1001, "
         "list: 1m 2 ready");
  SENT(s, "get 2, remake /lock/ready for good for others too");
  serves(s, "get 2, deleted ready");
  HEARD(a, "");
  serves(s, "remake /lock/ready for good for others too");
  HEARD(a, "granted");
  serves(s, "exists /lock/ready: theirs 1003, unwatch /lock/ready");
}

STORY("does not mind who has deleted an older `ready` before") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  serves(s,
         "create member: 2, exists /lock/ready: theirs 1001, "
         "list: 1m 2 ready, get 2, deleted ready, "
         "remake /lock/ready for good for others too: no node, "
         "exists /lock/ready: no node, list: 1m 2, "
         "mkdir /lock/ready for good for others too");
  HEARD(a, "granted");
}

STORY("is not let in by a `ready` that its session has made before its node") {
  struct actor *a = opener(s);
  struct actor *b = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  SENT(s, "create member, list");
  serves(s, "changed ready"); /* (a server tells of it before its answer) */
  HEARD(a, "granted");
  serves(s,
         "mkdir /lock/ready for good for others too: theirs 1003, "
         "create member: 4");
  SENT(s, "exists /lock/ready");
  serves(s, "list: 1m 2m 4m ready"); /* two of them are of the run before */
  HEARD(b, "");
  serves(s, "exists /lock/ready: theirs 1003");
  SENT(s, "get 4, remake /lock/ready for good for others too");
  serves(s, "get 4, remake /lock/ready for good for others too");
  HEARD(b, "granted");
}

STORY(
    "makes `ready` once more where it was there, and its watch tells nothing") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  serves(s,
         "create member: 2, exists /lock/ready: no node, list: 1m 2, get 2, "
         "mkdir /lock/ready for good for others too: exists");
  HEARD(a, "");
  serves(s,
         "exists /lock/ready: no node, "
         "mkdir /lock/ready for good for others too");
  HEARD(a, "granted");
}

/* Somebody else's. */

STORY("is let in by a `ready` that somebody else was quicker to make") {
  struct actor *a = opener(s);
  serves(s, "changed ready");
  HEARD(a, "granted");
  serves(s, "mkdir /lock/ready for good for others too: exists");
  SENT(s, "");
}

STORY(
    "is let in by a `ready` that is gone already: it was made after its node") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  serves(s,
         "create member: 2, exists /lock/ready: no node, changed ready, "
         "list: 2"); /* the others have begun to leave */
  serves(s, "exists /lock/ready: no node");
  HEARD(a, "");
  serves(s, "get 2");
  HEARD(a, "granted");
}

STORY("is not let in by a `ready` that was made before its node was known") {
  struct actor *b = member(s, (struct wish){0});
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  SENT(s, "create member, list");
  serves(s, "changed ready");
  HEARD(b, "granted");
  serves(s, "create member: 4, list: 2 4, exists /lock/ready: no node");
  SENT(s, "get 4, mkdir /lock/ready for good for others too");
  HEARD(a, "");
}

STORY("is not let in by a `ready` that was written") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  serves(s,
         "create member: 2, exists /lock/ready: theirs 1001, list: 2 ready, "
         "get 2, changed ready");
  HEARD(a, "");
  serves(s, "exists /lock/ready: theirs 1001");
  HEARD(a, "");
}

TEST("keeps in the next connection that it was let in, if its node is there") {
  for (int there = 0; there < 2; there++) {
    struct stage *s = BEGIN();
    struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
    serves(s, "create member: 2, exists /lock/ready: no node, changed ready");
    reconnects(s);
    shows(s, there ? "2" : "1m");
    HEARD(a, "");
    if (there) {
      serves(s, "get 2");
      HEARD(a, "granted");
    } else {
      SENT(s, "create member, exists /lock/ready, ask about 2, list");
    }
    END(s);
  }
}

STORY("is let in by `ready`, and its own answer comes after that") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  serves(s, "create member: 2, exists /lock/ready: no node, changed ready");
  SENT(s, "list, exists /lock/ready");
  serves(s, "list: 1m 2 ready, exists /lock/ready: theirs 1003");
  HEARD(a, ""); /* is our own node there? */
  serves(s, "get 2");
  HEARD(a, "granted");
  serves(s, "unwatch /lock/ready");
  SENT(s, "");
}

/* Connections. */

STORY("looks for `ready` in the next connection, and is let in by it") {
  struct actor *a = member(s, (struct wish){0});
  reconnects(s);
  SENT(s, "list");
  serves(s, "list: 1m 2 ready");
  SENT(s, "get 2, exists /lock/ready");
  serves(s, "get 2");
  HEARD(a, "");
  serves(s, "exists /lock/ready: theirs 1003");
  HEARD(a, "granted");
}

STORY("is let in though others have left before it had a connection again") {
  struct actor *a = member(s, (struct wish){0});
  reconnects(s);
  serves(s, "list: 2 ready, get 2, exists /lock/ready: theirs 1003");
  HEARD(a, "granted");
}

STORY("makes another node before it makes `ready` whose answer was lost") {
  struct actor *a = opener(s);
  reconnects(s);
  HEARD(a, "");
  /* it may be made late */
  serves(s, "list: 1m 2, get 2, exists /lock/ready: no node");
  SENT(s, "remove 2, unwatch /lock/ready");
  serves(s, "deleted 2, remove 2, unwatch /lock/ready");
  SENT(s, "create member, list, exists /lock/ready");
  HEARD(a, "");
}

STORY("is let in by the `ready` that it has made where the answer was lost") {
  struct actor *a = opener(s);
  reconnects(s);
  serves(s, "list: 1m 2 ready, get 2, exists /lock/ready: theirs 1003");
  HEARD(a, "granted");
  SENT(s, "unwatch /lock/ready");
}

STORY("finds its node where the answer to its create was lost") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  made_unheard(s, 2);
  reconnects(s);
  SENT(s, "list");
  serves(s, "list: 1m 2m");
  SENT(s, "get 2, exists /lock/ready");
  serves(s, "get 2: lost");
  reconnects(s);
  serves(s,
         "list: 1m 2m, get 2, exists /lock/ready: no node, "
         "mkdir /lock/ready for good for others too: theirs 1003");
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
  serves(s, "create member: 2, exists /lock/ready: theirs 1001");
  cannot_send(s, true);
  serves(s, "list: 1m 2 ready");
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
  serves(s, "changed ready"); /* it lay in the socket, and so did the answer */
  SENT(s, "round");
  HEARD(a, "");
  rounds_by_hand(s, false);
  proves_lease(s);
  SENT(s, "list");
  serves(s, "list: 1m 2 ready");
  HEARD(a, "granted");
}

STORY(
    "is not let in by its own `ready` either while the lease does not stand") {
  struct actor *a = opener(s);
  stops_for(s, 20000);
  serves(s, "mkdir /lock/ready for good for others too: theirs 1003");
  HEARD(a, "");
  serves(s, "exists /lock/ready: theirs 1003");
  proves_lease(s);
  SENT(s, "list");
  serves(s, "list: 1m 2 ready");
  HEARD(a, "granted");
}

/* Its own node. */

STORY("begins again when its node is deleted while it waits") {
  struct actor *a = member(s, (struct wish){0});
  serves(s, "deleted 2");
  HEARD(a, "");
  SENT(s, "unwatch /lock/ready, create member, list");
  serves(s, "unwatch /lock/ready, create member: 3");
  SENT(s, "exists /lock/ready");
  serves(s, "list: 1m 3, exists /lock/ready: no node");
  SENT(s, "get 3, mkdir /lock/ready for good for others too");
}

STORY("is not let in where its node was deleted before it could be watched") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  serves(s, "create member: 2, exists /lock/ready: no node, list: 1m 2");
  SENT(s, "get 2, mkdir /lock/ready for good for others too");
  serves(s, "get 2: no node");
  HEARD(a, "");
  SENT(s, "unwatch /lock/ready, create member, list");
  serves(s, "mkdir /lock/ready for good for others too: theirs 1003");
  HEARD(a, ""); /* that is for others */
}

STORY("begins again where a list does not show its node any more") {
  struct actor *a = member(s, (struct wish){0});
  reconnects(s);
  serves(s, "list: 1m");
  HEARD(a, "");
  SENT(s, "create member, exists /lock/ready, ask about 2, list");
}

STORY("begins again where its directory is gone when it makes `ready`") {
  struct actor *a = opener(s);
  serves(s, "mkdir /lock/ready for good for others too: no node");
  HEARD(a, "");
  SENT(s, "list");
  serves(s,
         "list: no node, unwatch 2, unwatch /lock/ready, "
         "create member: no node, ask about 2: no node, list: no node");
  HEARD(a, "");
}

STORY("loses its place inside when its node is deleted") {
  struct actor *a = opener(s);
  serves(s,
         "mkdir /lock/ready for good for others too: theirs 1003, deleted 2");
  HEARD(a, "granted, lost: deleted, removed, forgotten");
}

/* Its end, if it is another one. */

STORY("is refused as busy, if it does not wait, where there are not enough") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2, .tries = true);
  serves(s, "create member: 2, exists /lock/ready: no node, list: 2");
  HEARD(a, "refused: busy");
  CHECK_TEXT("nobody", rival_of(a));
  SENT(s, "get 2, unwatch /lock/ready, remove 2");
  serves(s, "get 2, unwatch /lock/ready, remove 2");
  HEARD(a, "removed, forgotten");
}

STORY("is let in, if it does not wait, where it makes enough") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2, .tries = true);
  serves(s,
         "create member: 2, exists /lock/ready: no node, list: 1m 2, get 2, "
         "mkdir /lock/ready for good for others too: theirs 1003");
  HEARD(a, "granted");
}

STORY("gives its node back at the deadline, when cancelled, and when closed") {
  struct actor *a = member(s, (struct wish){.within = 3000});
  passes(s, 3000);
  HEARD(a, "refused: timeout");
  SENT(s, "exists /lock/ready, remove 2");
  serves(s,
         "exists /lock/ready: no node, deleted 2, "
         "remove 2, unwatch /lock/ready");
  HEARD(a, "removed, forgotten");
  a = member(s, (struct wish){0});
  cancel(a);
  HEARD(a, "refused: cancelled");
  SENT(s, "unwatch /lock/ready, remove 2");
  serves(s, "deleted 2, unwatch /lock/ready, remove 2");
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
  serves(s, "mkdir /lock/ready for good for others too: theirs 1003");
  HEARD(a, "");
  serves(s, "unwatch /lock/ready, remove 2, deleted 2");
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
    serves(s, "unwatch /lock/ready, remove 2");
    END(s);
  }
}

STORY("is refused where an older `ready` may not be deleted") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  serves(s,
         "create member: 2, exists /lock/ready: theirs 1001, "
         "list: 1m 2 ready, get 2, "
         "remake /lock/ready for good for others too: no auth");
  HEARD(a, "refused: denied");
  CHECK_INT(REPLY_NO_AUTH, reason_of(a));
  CHECK_TEXT("cannot create ready in /lock", denial_of(a));
  serves(s, "deleted 2, unwatch /lock/ready, remove 2");
  SENT(s, "");
}

STORY("refuses none of the others for that, nor one that was let in") {
  together(s);
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  struct actor *b = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  struct actor *few = ACQUIRE(s, .lock = MEMBER, .permits = 9);
  apart(s);
  serves(s,
         "create member: 2, exists /lock/ready: no node, create member: 3, "
         "create member: 4, list: 2 3 4");
  SENT(s, "get 2, mkdir /lock/ready for good for others too, get 3, get 4");
  serves(s, "get 2: no auth"); /* (whoever has changed its ACL) */
  SENT(s, "");
  HEARD(a, "");
  release(few); /* (it holds nothing) */
  struct actor *late = ACQUIRE(s, .lock = MEMBER, .permits = 9);
  serves(s, "mkdir /lock/ready for good for others too: no auth");
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
  serves(s,
         "create member: 2, exists /lock/ready: no node, create member: 3, "
         "list: 2 3, get 2, changed ready, "
         "mkdir /lock/ready for good for others too: no auth");
  HEARD(a, "granted");
  HEARD(b, "");
  serves(s, "get 3");
  HEARD(b, "granted");
}

STORY("does not wait where nobody may list the members, or make a node") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  serves(s, "create member: no auth");
  HEARD(a, "refused: denied, removed, forgotten");
  serves(s, "exists /lock/ready: no node, list: nobody, unwatch /lock/ready");
  a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  serves(s, "create member: 2, exists /lock/ready: no node, list: no auth");
  HEARD(a, "refused: denied");
  CHECK_TEXT("cannot list /lock", denial_of(a));
}

/* No memory. */

STORY("looks a little later where there was no memory for a watch") {
  struct actor *a = ACQUIRE(s, .lock = MEMBER, .permits = 2);
  serves(s, "create member: 2, exists /lock/ready: no node");
  shows_then_no_memory(s, "1m 2");
  HEARD(a, "");
  SENT(s, "");
  passes(s, 100);
  serves(s,
         "list: 1m 2, get 2, "
         "mkdir /lock/ready for good for others too: theirs 1003");
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
  serves(s, "create member: 2, list: 1m 2");
  SENT(s, "get 2, exists /lock/ready");
  serves(s,
         "get 2, exists /lock/ready: no node, "
         "mkdir /lock/ready for good for others too: theirs 1003");
  HEARD(a, "granted");
}

STORY("opens a little later where there was no memory for that") {
  struct actor *a = member(s, (struct wish){0});
  reconnects(s);
  serves(s, "list: 1m 2, get 2");
  memory_refuse(1);
  serves(s, "exists /lock/ready: no node");
  memory_refuse(0);
  SENT(s, "");
  passes(s, 100);
  SENT(s, "mkdir /lock/ready for good for others too");
  serves(s, "mkdir /lock/ready for good for others too: theirs 1003");
  HEARD(a, "granted");
}
