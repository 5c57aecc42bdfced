/* Local turns against time: the Lua thread's side as it is (src/io/turns.c,
 * claim.c), and an I/O thread that does what it may do, as slowly as it likes.
 *
 *   turns [--seeds N] [--seed S] [--stop]
 *
 * Commands and events wait for as long as chance wills; between any two steps
 * the I/O thread grants, refuses, loses a hold, hears that somebody wants the
 * lock, loses its connection or its lease, or gets a new session.  After each
 * step: whoever believes that it holds has the one node that is held, and there
 * is one such at most.  Whoever is granted is the first of those who wait, and
 * its token or its turn is higher than any before.  At the end everybody has had
 * an answer, and each loss was told once, to who had the lock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../sim/memory.h"
#include "../sim/random.h"
#include "io/clock.h"
#include "io/messages.h"
#include "io/turns.h"
#include "protocol/session.h"

enum {
  CLAIMS_MAX = 40,
  MESSAGES_MAX = 400,
  STEPS = 400,
  LEASE = 1000,
  HANDOFFS = 3,
  DEADLINE = 600
};

/* One acquisition as its user sees it, and as the I/O thread does. */
struct user {
  struct claim *claim;
  bool shares;
  bool given_up;                         /* cancelled or abandoned */
  bool granted, refused, released, lost; /* as it was told */
  bool joined; /* the I/O thread knows it, and it waits there */
};

struct letter {
  struct claim *claim;
  int kind;
};

struct mail {
  struct letter letters[MESSAGES_MAX];
  int first, last;
};

static struct world {
  struct random random;
  uint64_t seed;
  bool traces;
  const char *fault;
  int64_t now, call_at;
  struct proof proof;
  struct turns turns;
  struct user users[CLAIMS_MAX];
  int count;
  struct mail commands, events;
  /* The I/O thread: whom it has granted the node, NULL: nobody. */
  struct claim *holder;
  bool revoked;
  int turn; /* of the holder's, when it was granted */
  /* Somebody else stands in the queue; the I/O thread looks around; it has told
   * that the holder is alone; the node's turn when that was true last. */
  bool other, looks, alone;
  int alone_until;
  int64_t zxid;
  /* The newest grant. */
  int64_t token;
  int newest_turn;
  int passed; /* in all worlds */
} w;

int64_t clock_now(void) { return w.now; }

static void violate(const char *fault) {
  if (!w.fault) w.fault = fault;
}

static int chance(int percent) { return random_chance(&w.random, percent); }

static void tell(struct contender *c, enum news news) {
  (void)c;
  (void)news;
}

static struct user *user_of(const struct claim *claim) {
  return &w.users[claim->number - 1];
}

static void put(struct mail *mail, struct claim *claim, int kind) {
  if (mail->last == MESSAGES_MAX) {
    violate("too many messages");
    return;
  }
  if (claim) claim_keep(claim);
  mail->letters[mail->last++] = (struct letter){claim, kind};
}

static void send(void *self, struct claim *claim, struct message *message,
                 int kind) {
  (void)self;
  (void)message;
  put(&w.commands, claim, kind);
}

static void call_at(void *self, int64_t due) {
  (void)self;
  w.call_at = due;
}

static void trace(const char *what, const struct claim *claim) {
  if (w.traces)
    printf("%6lld  %s (%d)\n", (long long)w.now, what,
           claim ? (int)claim->number : 0);
}

/* What must be true of whoever is granted, here or there. */
static void check_grant(const struct claim *claim) {
  if (!user_of(claim)->shares) return;
  for (int i = 0; i < w.count; i++) {
    const struct user *u = &w.users[i];
    if (u == user_of(claim)) break;
    if (u->shares && !u->given_up && claim_state(u->claim) == CLAIM_WAITING &&
        u->claim->contender.options.deadline > w.now)
      violate("one that came later is granted first");
  }
  if (claim->token < w.token ||
      (claim->token == w.token && claim->turn <= w.newest_turn))
    violate("a token, with its turn, does not grow");
  if (claim->turn > w.alone_until + HANDOFFS && !w.alone)
    violate("a node has more local turns than it may");
  w.token = claim->token;
  w.newest_turn = claim->turn;
}

/* The I/O thread. */

static bool lease_stands(void) { return w.now < w.proof.lease_until; }
static bool is_connected(void) { return w.proof.state == SESSION_CONNECTED; }

static void grant(struct claim *claim, int64_t token, int turn) {
  trace("is granted", claim);
  struct contender *c = &claim->contender;
  int64_t max_hold = c->options.max_hold;
  user_of(claim)->joined = false;
  c->node.czxid = token;
  c->node.turn = turn;
  if (turn == 0) w.alone_until = 0;
  c->timer.due = max_hold == NEVER ? NEVER : w.now + max_hold;
  snprintf(c->path, NAME_MAX_OWN, "node-%lld", (long long)token);
  c->node.name = c->path;
  w.holder = claim;
  w.turn = turn;
  claim_grant(claim);
  check_grant(claim);
  put(&w.events, claim, EVENT_GRANTED);
}

static void refuse(struct claim *claim, enum verdict why) {
  trace("is refused", claim);
  user_of(claim)->joined = false;
  claim_refuse(claim, why, 0);
  put(&w.events, claim, EVENT_REFUSED);
}

static struct claim *first_waiting(bool sharing) {
  for (int i = 0; i < w.count; i++)
    if (w.users[i].joined && (!sharing || w.users[i].shares))
      return w.users[i].claim;
  return NULL;
}

static void drop_node(void) {
  w.holder = NULL;
  w.revoked = w.looks = w.alone = false;
  if (chance(50)) w.other = false;
}

static void lose(enum loss why) {
  struct claim *claim = w.holder;
  if (!claim) return;
  trace("is lost", claim);
  drop_node();
  claim_end_hold(claim, CLAIM_LOST + (int)why);
  if (claim_said_loss(claim)) put(&w.events, claim, EVENT_LOST);
}

/* As queue.c's. */
static void release(struct claim *claim, bool report) {
  if (claim == w.holder) {
    int turn = w.turn + claim_turns(claim);
    bool passes = turn < claim->contender.options.handoffs && !w.revoked &&
                  is_connected() && lease_stands();
    struct claim *next = passes ? first_waiting(true) : NULL;
    drop_node();
    if (next) grant(next, claim->token, turn + 1);
  }
  if (report) put(&w.events, claim, EVENT_GONE);
}

static void obey(struct claim *claim, int kind) {
  struct user *user = user_of(claim);
  switch (kind) {
    case COMMAND_ACQUIRE:
      user->joined = true;
      if (!claim->contender.options.patient && w.holder)
        refuse(claim, VERDICT_BUSY);
      break;
    case COMMAND_CANCEL:
    case COMMAND_ABANDON:
      if (user->joined) refuse(claim, VERDICT_CANCELLED);
      if (kind == COMMAND_ABANDON && claim_end_hold(claim, CLAIM_RELEASED))
        release(claim, false);
      break;
    case COMMAND_RELEASE:
    case COMMAND_RELEASE_AND_TELL:
      release(claim, kind == COMMAND_RELEASE_AND_TELL);
      break;
    case COMMAND_LOOK_AROUND:
      if (claim != w.holder) break;
      if (w.looks) violate("it is to look around twice");
      w.looks = true;
      break;
    case COMMAND_LOSE:
      if (claim == w.holder) lose(claim_said_loss(claim));
      break;
  }
}

static bool take_command(void) {
  if (w.commands.first == w.commands.last) return false;
  struct letter letter = w.commands.letters[w.commands.first++];
  obey(letter.claim, letter.kind);
  claim_drop(letter.claim);
  return true;
}

static void look_at_time(void) {
  for (int i = 0; i < w.count; i++)
    if (w.users[i].joined &&
        w.users[i].claim->contender.options.deadline <= w.now)
      refuse(w.users[i].claim, VERDICT_TIMEOUT);
  if (w.holder && w.holder->hold_until <= w.now) lose(LOSS_MAX_HOLD);
  if (w.holder && !lease_stands()) lose(LOSS_SILENCE);
  if (w.call_at <= w.now) {
    w.call_at = NEVER;
    put(&w.events, NULL, EVENT_ALARM);
  }
}

static void serve(void) {
  struct claim *claim = first_waiting(false);
  if (!w.holder && claim && is_connected() && lease_stands())
    grant(claim, ++w.zxid, 0);
}

/* A list, or the event of its watch. */
static void look_around(void) {
  if (!w.looks || !is_connected()) return;
  if (!w.alone && w.other) {
    w.looks = false;
  } else if (!w.alone) {
    trace("is alone", w.holder);
    w.alone = true;
    claim_be_alone(w.holder);
  } else if (w.other) {
    trace("has company", w.holder);
    w.alone = false;
    w.alone_until = w.turn + claim_turns(w.holder);
    claim_have_company(w.holder);
  }
}

static void disturb(void) {
  switch (random_below(&w.random, 7)) {
    case 0:
      lose(LOSS_DELETED);
      break;
    case 1: /* the mark first, then the new session's lease: see look */
      lose(LOSS_EXPIRED);
      w.proof.lease_until = w.now + LEASE;
      break;
    case 2:
      if (!w.holder || w.revoked) break;
      trace("is asked for", w.holder);
      w.revoked = true;
      claim_ask_for(w.holder);
      put(&w.events, w.holder, EVENT_REVOKED);
      break;
    case 3:
      w.proof.state = is_connected() ? SESSION_SUSPENDED : SESSION_CONNECTED;
      break;
    case 4:
      if (first_waiting(false) && chance(30))
        refuse(first_waiting(false), VERDICT_AUTH);
      break;
    case 5:
      w.other = true;
      break;
    default:
      w.now += random_below(&w.random, 2 * LEASE);
  }
}

static void act_as_io(void) {
  for (int n = random_below(&w.random, 4); n > 0 && take_command();) n--;
  look_at_time();
  if (is_connected() && lease_stands() && chance(60))
    w.proof.lease_until = w.now + LEASE;
  if (chance(70)) serve();
  if (chance(30)) look_around();
}

/* The Lua thread. */

static void begin(void) {
  static const int handoffs[] = {0, 2, HANDOFFS, HANDOFFS, HANDOFFS, HANDOFFS};
  if (w.count == CLAIMS_MAX) return;
  struct contender_options options = {
      .kind = KIND_MUTEX,
      .handoffs = handoffs[random_below(&w.random, 6)],
      .patient = chance(95),
      .deadline =
          chance(25) ? w.now + random_below(&w.random, DEADLINE) : NEVER,
      .max_hold = chance(8) ? 1 + random_below(&w.random, 600) : NEVER,
      .lose_on_suspend = chance(5)};
  struct claim *claim = claim_new(&w.proof, "", "/lock", "", 0, &options, tell);
  if (!claim) return;
  w.users[w.count++] =
      (struct user){.claim = claim, .shares = options.handoffs > 0};
  claim->number = (uint64_t)w.count;
  claim->asked = w.now;
  claim->shares = 1;
  trace("begins", claim);
  turns_begin(&w.turns, claim);
}

static void end(struct user *user) {
  struct claim *claim = user->claim;
  if (claim_state(claim) == CLAIM_WAITING) {
    trace("is abandoned", claim);
    user->given_up = true;
    turns_abandon(&w.turns, claim);
    return;
  }
  uint64_t passed = w.turns.taken;
  bool dead = claim_root(claim) != w.holder || w.revoked;
  trace("releases", claim);
  user->released = turns_release(&w.turns, claim, chance(15));
  if (w.turns.taken == passed) return;
  trace("has passed it on to", w.turns.newest);
  w.passed++;
  if (dead) violate("a node is passed on that is lost, or asked for");
  if (!is_connected()) violate("a node is passed on without a connection");
  if (!lease_stands()) violate("a node is passed on without a lease");
  if (w.turns.newest->contender.options.deadline <= w.now)
    violate("it is passed to one that should have given up");
  if (claim->hold_until != NEVER) violate("its time is another's");
  check_grant(w.turns.newest);
}

/* As the Lua layer: whoever it speaks of, if that holds. */
static void note(struct claim *claim, int kind) {
  if (kind == EVENT_ALARM) {
    turns_wake(&w.turns);
    return;
  }
  if (kind == EVENT_REFUSED || kind == EVENT_LOST) turns_heard(&w.turns, claim);
  struct user *user = &w.users[claim->speaks_for - 1];
  if (kind == EVENT_REFUSED) user = user_of(claim);
  if (kind == EVENT_GRANTED || kind == EVENT_TURN) {
    user = user_of(claim);
    if (user->granted || user->refused) violate("it is answered twice");
    user->granted = true;
  } else if (kind == EVENT_REFUSED) {
    if (user->granted || user->refused) violate("it is answered twice");
    user->refused = true;
  } else if (kind == EVENT_LOST) {
    if (user->lost) violate("a loss is told twice");
    if (user->released) violate("a loss is told to one that has released");
    user->lost = true;
  }
}

static bool take_events(void) {
  struct claim *claim = turns_take(&w.turns);
  if (claim) {
    note(claim, EVENT_TURN);
    claim_drop(claim);
    return true;
  }
  if (w.events.first == w.events.last) return false;
  struct letter letter = w.events.letters[w.events.first++];
  note(letter.claim, letter.kind);
  if (letter.claim) claim_drop(letter.claim);
  return true;
}

static bool is_over(const struct user *user) {
  return user->released || user->given_up || user->refused || user->lost;
}

/* One of those that are under way. */
static struct user *draw(void) {
  int first = w.count ? random_below(&w.random, w.count) : 0;
  for (int i = 0; i < w.count; i++) {
    struct user *user = &w.users[(first + i) % w.count];
    if (!is_over(user)) return user;
  }
  return NULL;
}

/* Whoever holds now, if anybody does. */
static void end_one(void) {
  for (int i = 0; i < w.count; i++) {
    struct user *user = &w.users[i];
    if (!user->granted || is_over(user) ||
        claim_state(user->claim) != CLAIM_HELD)
      continue;
    enum loss why = claim_overdue(user->claim);
    if (why && chance(50))
      turns_lose(&w.turns, user->claim, why);
    else
      end(user);
    return;
  }
}

static void act_as_lua(void) {
  int what = random_below(&w.random, 100);
  if (what < 25) begin();
  if (what >= 25 && what < 60) take_events();
  struct user *user = draw();
  if (!user) return;
  struct claim *claim = user->claim;
  if (what >= 60 && what < 90) end_one();
  if (what >= 90 && what < 93 && !user->granted && !user->refused) {
    user->given_up = true;
    turns_cancel(&w.turns, claim);
  }
  if (what >= 93 && what < 95 && !user->granted && !user->refused) end(user);
}

/* After each step. */
static void check(void) {
  int believers = 0;
  for (int i = 0; i < w.count; i++) {
    struct claim *claim = w.users[i].claim;
    if (!claim_is_held(claim)) continue;
    believers++;
    if (claim_root(claim) != w.holder)
      violate("one believes that it has a node, which is gone");
  }
  if (believers > 1) violate("two believe that they hold the lock");
}

/* Nobody releases, and time passes. */
static void outwait(void) {
  for (int i = 0; i < 10; i++) {
    w.now += DEADLINE / 4;
    w.proof.lease_until = w.now + LEASE;
    while (take_command()) continue;
    look_at_time();
    while (take_events()) continue;
    check();
  }
  for (int i = 0; i < w.count; i++)
    if (claim_state(w.users[i].claim) == CLAIM_WAITING &&
        w.users[i].claim->contender.options.deadline <= w.now)
      violate("a deadline has passed, and nobody has seen it");
}

static void settle(void) {
  w.proof.state = SESSION_CONNECTED;
  for (int i = 0; i < 40 * CLAIMS_MAX; i++) {
    w.now++;
    w.proof.lease_until = w.now + LEASE;
    while (take_command()) continue;
    look_at_time();
    serve();
    while (take_events()) continue;
    for (int k = 0; k < w.count; k++)
      if (w.users[k].granted && claim_state(w.users[k].claim) == CLAIM_HELD)
        end(&w.users[k]);
    check();
  }
}

/* Everything has come to its end. */
static void check_end(void) {
  for (int i = 0; i < w.count && !w.fault; i++) {
    struct user *u = &w.users[i];
    if (!u->given_up && u->granted == u->refused) violate("one is forgotten");
    if (u->granted && !u->released && !u->lost && !u->given_up &&
        u->claim->hold_until == NEVER)
      violate("a hold has ended, and nobody was told");
    if (u->claim->line) violate("one that is over stands in line");
  }
  if (w.turns.waiting) violate("somebody is counted who does not wait");
  for (int i = 0; i < LINE_BUCKETS; i++)
    if (w.turns.lines[i]) violate("a line is left");
}

static void clean_up(void) {
  for (int i = 0; i < w.count; i++) claim_drop(w.users[i].claim);
  while (w.commands.first < w.commands.last)
    claim_drop(w.commands.letters[w.commands.first++].claim);
  for (; w.events.first < w.events.last; w.events.first++)
    if (w.events.letters[w.events.first].claim)
      claim_drop(w.events.letters[w.events.first].claim);
  turns_free(&w.turns);
  if (!w.fault && memory_pieces() > 0) violate("memory is not given back");
}

static bool run(uint64_t seed, bool traces) {
  int passed = w.passed;
  memset(&w, 0, sizeof w);
  w.passed = passed;
  w.seed = seed;
  w.traces = traces;
  w.call_at = NEVER;
  w.random.state = seed;
  memory_reset();
  memory_fails(&w.random, chance(20) ? 5 : 0);
  w.proof.lease_until = w.now + LEASE;
  w.proof.state = SESSION_CONNECTED;
  turns_init(&w.turns, &(struct turns_port){NULL, send, call_at}, &w.proof);
  int rough = random_below(&w.random, 8);
  for (int i = 0; i < STEPS && !w.fault; i++) {
    w.now += random_below(&w.random, 8);
    if (chance(rough))
      disturb();
    else if (chance(50))
      act_as_io();
    else
      act_as_lua();
    check();
  }
  if (!w.fault) outwait();
  if (!w.fault) settle();
  if (!w.fault) check_end();
  clean_up();
  if (w.fault) printf("seed %llu: %s\n", (unsigned long long)seed, w.fault);
  return !w.fault;
}

int main(int argc, char **argv) {
  uint64_t seeds = 20000, only = 0;
  bool stop = false;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--stop") == 0) stop = true;
    if (i + 1 < argc && strcmp(argv[i], "--seeds") == 0)
      seeds = strtoull(argv[i + 1], NULL, 10);
    if (i + 1 < argc && strcmp(argv[i], "--seed") == 0)
      only = strtoull(argv[i + 1], NULL, 10);
  }
  if (only) return run(only, true) ? 0 : 1;
  int failed = 0;
  for (uint64_t seed = 1; seed <= seeds && !(stop && failed); seed++)
    if (!run(seed, false)) failed++;
  printf("turns: %llu schedules, %d turns, %d failed\n",
         (unsigned long long)seeds, w.passed, failed);
  return failed > 0 || w.passed == 0;
}
