#include "acquisition.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "protocol/session.h"

/* The greatest index of a turn. It has six digits, so a program can append an
 * index of fixed width to a token of fixed width. Such texts compare in the
 * order of the turns. */
enum { TURNS_MAX = 999999 };

static void free_acquisition(void *self) {
  struct acquisition *acquisition = self;
  if (acquisition_outcome(acquisition) == ACQUISITION_REFUSED)
    free(acquisition->blocker);
  free(acquisition->contender.gate);
  free(acquisition);
}

struct acquisition *acquisition_new(struct proof *proof, const char *chroot,
                                    const char *path, const void *data,
                                    size_t size,
                                    const struct contender_options *options,
                                    news_handler *notify) {
  bool permit = options->kind == KIND_PERMIT;
  size_t prefix = strlen(chroot), length = prefix + strlen(path);
  size_t whole = length + (permit ? strlen(PERMITS) : 0);
  size_t contender = contender_size(whole);
  struct acquisition *acquisition =
      calloc(1, offsetof(struct acquisition, contender) + contender + whole +
                    1 + size);
  if (!acquisition) return NULL;
  struct contender *gate = permit ? malloc(contender) : NULL;
  if (permit && !gate) {
    free(acquisition);
    return NULL;
  }
  subject_init(&acquisition->subject, free_acquisition);
  acquisition->proof = proof;
  char *text = (char *)&acquisition->contender + contender,
       *copy = text + whole + 1;
  acquisition->prefix = (uint16_t)prefix;
  acquisition->length = (uint16_t)length;
  acquisition->path = text;
  memcpy(text, chroot, prefix); /* NOLINT: the next line ends it */
  strcpy(text + prefix, path);
  if (permit) strcpy(text + length, PERMITS);
  if (size) memcpy(copy, data, size);
  struct message *messages[] = {&acquisition->begin,   &acquisition->cancel,
                                &acquisition->release, &acquisition->decided,
                                &acquisition->revoked, &acquisition->ended};
  for (int i = 0; i < 6; i++) message_init(messages[i], &acquisition->subject);
  struct contender_options own = *options;
  own.data = copy;
  own.size = (int)size;
  contender_init(&acquisition->contender, &own, notify, acquisition);
  acquisition->contender.gate = gate;
  return acquisition;
}

/* Publishes the grant or refusal to the Lua thread. The I/O thread calls this
 * after it has written the acquisition's other fields. */
static void decide(struct acquisition *acquisition,
                   enum acquisition_state state) {
  assert(acquisition->word == ACQUISITION_WAITING);
  if (state == ACQUISITION_HELD) acquisition->proof->held++;
  atomic_store_explicit(&acquisition->word, state, memory_order_release);
}

void acquisition_grant(struct acquisition *acquisition) {
  const struct contender *c = &acquisition->contender;
  acquisition->token = contender_token(c);
  acquisition->czxid = c->node.czxid;
  acquisition->hold_until = c->timer.due;
  decide(acquisition, ACQUISITION_HELD);
}

static void copy_blocker(struct acquisition *acquisition,
                         const struct blocker *blocker) {
  int size = blocker->size, shown = size < OP_SHOWN ? size : OP_SHOWN;
  if (!blocker->data || size <= 0) return;
  acquisition->blocker = malloc(sizeof *acquisition->blocker + (size_t)shown);
  if (!acquisition->blocker) return; /* the message then shows no blocker */
  acquisition->blocker->size = size;
  acquisition->blocker->shown = shown;
  acquisition->blocker->holds = blocker->holds;
  memcpy(acquisition->blocker->data, blocker->data, (size_t)shown);
}

void acquisition_refuse(struct acquisition *acquisition, enum refusal_code why,
                        int reason) {
  const struct contender *c = &acquisition->contender;
  acquisition->refusal_code = why;
  acquisition->ahead = contender_ahead(c);
  copy_blocker(acquisition, &c->blocker);
  acquisition->other = c->other;
  acquisition->reason = reason;
  decide(acquisition, ACQUISITION_REFUSED);
}

void acquisition_forbid_turns(struct acquisition *acquisition) {
  atomic_fetch_or(&acquisition->word, WORD_NO_TURNS);
}

void acquisition_set_uncontended(struct acquisition *acquisition) {
  atomic_store_explicit(&acquisition->uncontended_until, INT_MAX,
                        memory_order_release);
}

void acquisition_set_contended(struct acquisition *acquisition) {
  atomic_store_explicit(&acquisition->uncontended_until,
                        acquisition->word / WORD_TURN, memory_order_release);
}

bool acquisition_end_hold(struct acquisition *acquisition, int next) {
  int word = acquisition->word;
  do {
    if ((word & WORD_STATE) != ACQUISITION_HELD) return false;
  } while (!atomic_compare_exchange_weak(&acquisition->word, &word,
                                         (word & ~WORD_STATE) | next));
  acquisition->proof->held--;
  return true;
}

static enum loss loss_of(int state) {
  return state > ACQUISITION_LOST ? (enum loss)(state - ACQUISITION_LOST)
                                  : LOSS_NONE;
}

static int word_of(const struct acquisition *acquisition) {
  return atomic_load_explicit(&acquisition->word, memory_order_acquire);
}

enum acquisition_state acquisition_outcome(
    const struct acquisition *acquisition) {
  return (enum acquisition_state)(word_of(acquisition) & WORD_STATE);
}

enum loss acquisition_outcome_loss(const struct acquisition *acquisition) {
  return loss_of((int)acquisition_outcome(acquisition));
}

/* Functions for the Lua thread. */

const char *acquisition_node(struct acquisition *acquisition) {
  return contender_watch_name(&acquisition->contender);
}

enum acquisition_state acquisition_state(const struct acquisition *acquisition,
                                         int turn) {
  int word = word_of(acquisition);
  if (word / WORD_TURN != turn) return ACQUISITION_RELEASED;
  return (enum acquisition_state)(word & WORD_STATE);
}

enum loss acquisition_loss(const struct acquisition *acquisition, int turn) {
  return loss_of((int)acquisition_state(acquisition, turn));
}

/* Returns for how many nanoseconds the lease still proves the hold, or 0. If
 * the local clock shows that the hold has ended, sets `*overdue` to the reason.
 *
 * Safety depends on the order of the two loads and the reading of the clock.
 * When a session expires, the I/O thread first marks its acquisitions LOST.
 * Only afterwards does it publish the lease of a new session. So a thread that
 * first reads the new lease, and then the state, reads LOST. This is true for
 * each turn, because all turns of a hold share the word with the state. The
 * clock is read last. If it were read earlier, and the process paused in
 * between, an expired lease could look valid. */
static int64_t check_lease(const struct acquisition *acquisition, int turn,
                           enum loss *overdue) {
  int64_t until = atomic_load_explicit(&acquisition->proof->lease_until,
                                       memory_order_acquire);
  enum acquisition_state state = acquisition_state(acquisition, turn);
  enum loss why = LOSS_LEASE_EXPIRED;
  *overdue = LOSS_NONE;
  if (state != ACQUISITION_HELD) return 0;
  if (acquisition->hold_until <= until) {
    until = acquisition->hold_until;
    why = LOSS_MAX_HOLD_REACHED;
  }
  int64_t now = clock_now();
  if (now < until) return until - now;
  *overdue = why;
  return 0;
}

int64_t acquisition_lease(const struct acquisition *acquisition, int turn) {
  enum loss overdue;
  return check_lease(acquisition, turn, &overdue);
}

enum loss acquisition_overdue(const struct acquisition *acquisition, int turn) {
  enum loss overdue;
  check_lease(acquisition, turn, &overdue);
  return overdue;
}

bool acquisition_is_held(const struct acquisition *acquisition, int turn) {
  return acquisition_lease(acquisition, turn) > 0;
}

/* Local turns. */

/* Returns whether the turn with the index `turn` must be the hold's last. While
 * the hold's node is known to be alone in the queue, only TURNS_MAX limits the
 * turns. Once another node may have joined the queue, the hold gets at most
 * `local_turns` more turns. They are counted from `uncontended_until`, the last
 * turn in which the hold's node was known to be alone. */
static bool is_last_turn(const struct acquisition *acquisition, int turn) {
  int until = atomic_load_explicit(&acquisition->uncontended_until,
                                   memory_order_acquire);
  return turn >= TURNS_MAX ||
         turn - until >= acquisition->contender.options.local_turns;
}

/* Returns whether the options allow local turns. They do not if the hold has
 * the option max_hold or lose_on_suspend. Either option could end the hold
 * during the turn of another user, who has not set it. */
static bool is_plain(const struct acquisition *acquisition) {
  const struct contender_options *options = &acquisition->contender.options;
  return options->max_hold == NEVER && !options->lose_on_suspend;
}

/* Begins the next turn of the hold. Returns false if the hold has ended, or if
 * another client wants the lock (WORD_NO_TURNS). */
static bool begin_turn(struct acquisition *acquisition) {
  int word = acquisition->word;
  do {
    if ((word & WORD_STATE) != ACQUISITION_HELD || word & WORD_NO_TURNS)
      return false;
  } while (!atomic_compare_exchange_weak(&acquisition->word, &word,
                                         word + WORD_TURN));
  return true;
}

/* Passes the hold from the turn `from` to the turn `to`, if the checks below
 * allow it. The facts that proved the grant, such as the node's owner, still
 * prove the hold: a local turn changes nothing at the servers. The connection
 * or the lease can end right after these checks. That ends the turn `to`, as it
 * would end any other turn. */
bool acquisition_pass_on(struct acquisition *acquisition,
                         const struct turn *from, struct turn *to) {
  const struct proof *proof = acquisition->proof;
  int64_t now = clock_now();
  if (is_last_turn(acquisition, from->index) || !is_plain(acquisition) ||
      now >= to->deadline || proof->state != SESSION_CONNECTED ||
      now >= proof->lease_until || !begin_turn(acquisition))
    return false;
  to->index = from->index + 1;
  acquisition->current_turn = to->number;
  return true;
}

/* Returns true once per hold, when half of its `local_turns` are used. The
 * caller then makes the I/O thread check whether another client waits. */
bool acquisition_must_watch_contention(struct acquisition *acquisition) {
  int turn = acquisition->word / WORD_TURN;
  if (acquisition->watches_contention ||
      2 * turn < acquisition->contender.options.local_turns)
    return false;
  return acquisition->watches_contention = true;
}

int wait_bucket(int64_t waited) {
  int bucket = 0;
  for (int64_t us = waited / 1000; us > 0 && bucket < WAIT_BUCKETS - 1; us /= 2)
    bucket++;
  return bucket;
}
