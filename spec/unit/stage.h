/* A stage for stories: one session in a time of its own, the actors that
 * contend through it, and a ZooKeeper that says what the story makes it say.
 *
 *     STORY("is granted when the node ahead of it is deleted") {
 *       struct actor *a = ACQUIRE(s);          a mutex, at "/lock"
 *       SENT(s, "create lock, list");
 *       happens(s, "create lock: 2");           its node got the number 2
 *       happens(s, "list: 1 2, get 2, get 1");  one is ahead; both are watched
 *       happens(s, "deleted 1");                the event
 *       HEARD(a, "granted");
 *       SENT(s, "");                           and nothing was asked
 *     }
 *
 * `s` is the stage: its session is connected when the story begins, and is
 * closed when it ends.
 *
 * Time is in milliseconds, and stands still until the story lets it pass.
 * Requests are answered in their order, as a server does it.  The heartbeats of
 * the session, and its pings, are answered at once and not mentioned, until
 * the story wants to see them (`heartbeats_by_hand`).
 *
 * Nodes are told by their numbers; what follows the number says whose spelling
 * it is: "7" a lock's node, "7r" a reader's, "7w" a writer's, "7p" a permit,
 * "7m" a member's, "7h" an unfair holder's; a directory may stand before it:
 * "/other:7" is below "/other".  One of ours needs no suffix, unless two have
 * the number.  Others are told by their names, "ready", or their paths,
 * "/gate". */
#ifndef UNIT_STAGE_H
#define UNIT_STAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "protocol/op.h"
#include "test.h"

struct stage;
struct actor;

/* What a story's session begins with; 0 is a session timeout of 10 s. */
struct setting {
  int nothing; /* (so that all the rest may be left out) */
  int timeout;
  bool acl_may_deny;
};

enum lock { MUTEX, READER, WRITER, PERMIT, UNFAIR, MEMBER };

/* A code of ZooKeeper's that says nothing of ACLs. */
enum { THROTTLED = -127 };

/* What an actor wants; 0 is a mutex at "/lock", for ever. */
struct wish {
  int nothing; /* (so that all the rest may be left out) */
  enum lock lock;
  const char *path;
  int within;          /* the deadline */
  bool tries;          /* does not wait */
  int permits;         /* PERMIT, MEMBER; 0: one */
  struct actor *below; /* READER: downgrades from this one's write lock */
  bool watches_parent;
};

#define BEGIN(...) (HERE, begin((struct setting){.nothing = 0, __VA_ARGS__}))
#define END(s) (HERE, end(s))
#define ACQUIRE(s, ...) \
  (HERE, acquire(s, (struct wish){.nothing = 0, __VA_ARGS__}))

/* A test that has one stage, `s`, from its beginning to its end; behind the
 * sentence stands what it begins with. */
#define STORY(...) STORY_(TEST_JOIN(story_, __LINE__), __VA_ARGS__)
#define STORY_(body, sentence, ...)              \
  static void body(struct stage *s);             \
  TEST(sentence) {                               \
    struct stage *stage_of = BEGIN(__VA_ARGS__); \
    body(stage_of);                              \
    end(stage_of);                               \
  }                                              \
  static void body(struct stage *s)

struct stage *begin(struct setting setting);
void end(struct stage *s); /* closes it; everybody has to be told */

/* The users. */
struct actor *acquire(struct stage *s, struct wish wish);
/* One waits until "/gate" is gone, or until "/lock" has contenders. */
struct actor *await(struct stage *s, bool crowd);
/* A member leaves; who waits for that is an actor, too. */
struct actor *depart(struct actor *member);
void release(struct actor *a);
void cancel(struct actor *a);
void close_session(struct stage *s);
void sees_deletion(struct actor *a); /* its owner: its node is gone */
void wants_watch(struct actor *a);   /* now rather than soon */
/* A nonce beside the path is used no more. */
void spends_nonce(struct stage *s, const char *path);

/* Scenes that stories begin with: one that holds, with node `number`; one that
 * waits with node 2 for somebody else's node 1, and both are watched. */
#define HOLDER(s, number, ...) \
  (HERE, holder(s, (struct wish){.nothing = 0, __VA_ARGS__}, number))
#define WAITER(s) (HERE, waiter(s))
struct actor *holder(struct stage *s, struct wish wish, int number);
struct actor *waiter(struct stage *s);

/* What an actor was told since it was looked at last. */
#define HEARD(a, text) CHECK_TEXT(text, heard(a))
const char *heard(struct actor *a);
const char *state_of(const struct actor *a); /* "forgotten": no more */
int64_t token_of(const struct actor *a);     /* 1000 + its node's number */
/* What it was refused for, beside the refusal code. */
int reason_of(const struct actor *a);
const char *denial_of(const struct actor *a); /* what that was a reason for */
int counted(const struct stage *s, const char *counter);

/* What was sent in this connection and neither looked at nor answered yet. */
#define SENT(s, text) CHECK_TEXT(text, sent(s))
const char *sent(struct stage *s);
/* The oldest request that was not answered; "": none. */
const char *oldest(struct stage *s);
void heartbeats_by_hand(struct stage *s, bool by_hand);

/* What happens next, in this order.  The server answers the oldest requests:
 *
 * "get 2"               success; a get finds the node, of our session if the
 *                           story has made it, else of another's
 *     "create lock: 2"      the node's number
 *     "list: 1 2"           the children; "list: nobody" if there are none
 *     "get 2: theirs 1003"  a node of this transaction, of another session, or
 *                           "ours 1003", or of no session: "nobody's"
 *     "get 2: no node"      a code, by the words in stage_server.c or by its
 *                           number: "code -112"
 *
 * It sends an event: "deleted 2", "changed ready", "children /lock".  Time
 * passes: "100 ms".  The connection changes: "disconnects", "connects",
 * "reconnects", "expires", "connects anew". */
#define happens(s, ...) (HERE, stage_happens(s, __VA_ARGS__))
void stage_happens(struct stage *s, const char *script, ...)
    __attribute__((format(printf, 2, 3)));
/* The same, and what an actor hears of it; what is sent then. */
#define HEARS(a, script, text) (HERE, stage_hears(a, script, text))
void stage_hears(struct actor *a, const char *script, const char *text);
#define SENDS(s, script, text) (HERE, stage_sends(s, script, text))
void stage_sends(struct stage *s, const char *script, const char *text);

/* Other answers to the oldest request.  To a create, of which nobody hears. */
void made_unheard(struct stage *s, int number);
/* Own ones, behind so many with our mark that nobody of us knows. */
void shows_forged(struct stage *s, const char *own, int forged);
/* Whoever asks about them: not another session. */
void forged_are_ours(struct stage *s);
/* The next node of ours gets the name that the first of them has now. */
void next_is_as_forged(struct stage *s);
void asks_to_let_go(struct stage *s); /* what is read from now on */

/* The connection. */
void connects(struct stage *s);      /* again: the same session */
void reconnects(struct stage *s);    /* it has lost its connection */
void connects_anew(struct stage *s); /* another session */
void disconnects(struct stage *s);
void expires(struct stage *s);
/* A server grants a session: 1 is the next one, 2 the one after it. Its timeout
 * is `milliseconds`, from now on. */
void is_greeted(struct stage *s, int session, int milliseconds);
void attempts(struct stage *s); /* to connect */
bool is_beyond_help(const struct stage *s);
bool wants_session(struct stage *s); /* since it was asked last */

/* The time. */
void passes(struct stage *s, int milliseconds);
/* Until something is asked: so many, or -1 if nothing is within `most`. */
int passes_until_asked(struct stage *s, int most);
/* What happens between the two happens in one batch. */
void together(struct stage *s);
void apart(struct stage *s);
/* How long after one heartbeat the next is sent; all are answered at once. */
int pace(struct stage *s);

#endif
