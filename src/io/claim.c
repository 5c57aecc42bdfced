#include "claim.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "protocol/session.h"

/* Six digits: tokens with their turns must be comparable as text. */
enum { TURNS_MAX = 999999 };

static void drop(void *claim) { claim_drop(claim); }

struct claim *claim_new(struct proof *proof, const char *chroot,
                        const char *path, const void *data, size_t size,
                        const struct contender_options *options,
                        news_handler *tell) {
  bool permit = options->kind == KIND_PERMIT;
  size_t prefix = strlen(chroot), length = prefix + strlen(path);
  size_t whole = length + (permit ? strlen(PERMITS) : 0);
  size_t contender = contender_size(whole);
  struct claim *claim = calloc(1, offsetof(struct claim, contender) +
                                      contender + whole + 1 + size);
  if (!claim) return NULL;
  struct contender *gate = permit ? malloc(contender) : NULL;
  if (permit && !gate) {
    free(claim);
    return NULL;
  }
  claim->subject.drop = drop;
  claim->references = 1;
  claim->proof = proof;
  char *text = (char *)&claim->contender + contender, *copy = text + whole + 1;
  claim->prefix = (uint16_t)prefix;
  claim->length = (uint16_t)length;
  claim->path = text;
  memcpy(text, chroot, prefix); /* NOLINT: the next line ends it */
  strcpy(text + prefix, path);
  if (permit) strcpy(text + length, PERMITS);
  if (size) memcpy(copy, data, size);
  struct message *messages[] = {&claim->begin,   &claim->cancel,
                                &claim->release, &claim->decided,
                                &claim->revoked, &claim->ended};
  for (int i = 0; i < 6; i++) message_init(messages[i], &claim->subject);
  struct contender_options own = *options;
  own.data = copy;
  own.size = (int)size;
  contender_init(&claim->contender, &own, tell, claim);
  claim->contender.gate = gate;
  return claim;
}

void claim_keep(struct claim *claim) { claim->references++; }

void claim_drop(struct claim *claim) {
  int left = --claim->references;
  assert(left >= 0);
  if (left > 0) return;
  if (claim_said(claim) == CLAIM_REFUSED) free(claim->rival);
  free(claim->contender.gate);
  free(claim);
}

/* Publishes the decision. The I/O thread calls it after it has written the
 * claim's other fields. */
static void decide(struct claim *claim, enum claim_state state) {
  assert(claim->word == CLAIM_WAITING);
  if (state == CLAIM_HELD) claim->proof->held++;
  atomic_store_explicit(&claim->word, state, memory_order_release);
}

void claim_grant(struct claim *claim) {
  const struct contender *c = &claim->contender;
  claim->token = contender_token(c);
  claim->hold_until = c->timer.due;
  decide(claim, CLAIM_HELD);
}

static void note_rival(struct claim *claim, const struct rival *rival) {
  int size = rival->size, shown = size < OP_SHOWN ? size : OP_SHOWN;
  if (!rival->data || size <= 0) return;
  claim->rival = malloc(sizeof *claim->rival + (size_t)shown);
  if (!claim->rival) return; /* only the message gets shorter */
  claim->rival->size = size;
  claim->rival->shown = shown;
  claim->rival->holds = rival->holds;
  memcpy(claim->rival->data, rival->data, (size_t)shown);
}

void claim_refuse(struct claim *claim, enum verdict why, int reason) {
  const struct contender *c = &claim->contender;
  claim->verdict = why;
  claim->ahead = contender_ahead(c);
  note_rival(claim, &c->rival);
  claim->other = c->other;
  claim->reason = reason;
  decide(claim, CLAIM_REFUSED);
}

void claim_ask_for(struct claim *claim) {
  atomic_fetch_or(&claim->word, WORD_ASKED_FOR);
}

void claim_be_alone(struct claim *claim) {
  atomic_store_explicit(&claim->alone_until, INT_MAX, memory_order_release);
}

void claim_have_company(struct claim *claim) {
  atomic_store_explicit(&claim->alone_until, claim->word / WORD_TURN,
                        memory_order_release);
}

bool claim_end_hold(struct claim *claim, int next) {
  int word = claim->word;
  do {
    if ((word & WORD_STATE) != CLAIM_HELD) return false;
  } while (!atomic_compare_exchange_weak(&claim->word, &word,
                                         (word & ~WORD_STATE) | next));
  claim->proof->held--;
  return true;
}

static enum loss loss_of(int state) {
  return state > CLAIM_LOST ? (enum loss)(state - CLAIM_LOST) : LOSS_NONE;
}

static int word_of(const struct claim *claim) {
  return atomic_load_explicit(&claim->word, memory_order_acquire);
}

enum claim_state claim_said(const struct claim *claim) {
  return (enum claim_state)(word_of(claim) & WORD_STATE);
}

enum loss claim_said_loss(const struct claim *claim) {
  return loss_of((int)claim_said(claim));
}

/* Functions for the Lua thread. */

const char *claim_node(struct claim *claim) {
  return contender_watch_name(&claim->contender);
}

enum claim_state claim_state(const struct claim *claim, int turn) {
  int word = word_of(claim);
  if (word / WORD_TURN != turn) return CLAIM_RELEASED;
  return (enum claim_state)(word & WORD_STATE);
}

enum loss claim_loss(const struct claim *claim, int turn) {
  return loss_of((int)claim_state(claim, turn));
}

/* Safety depends on the order of these loads. When a session expires, the I/O
 * thread first marks its claims LOST and only then publishes the lease of a new
 * session. So a thread that reads the new lease also reads the mark. All turns
 * share one word, so this holds for each of them. The clock is read last: a
 * time from before a pause could make an expired lease look valid. */
static int64_t look(const struct claim *claim, int turn, enum loss *overdue) {
  int64_t until =
      atomic_load_explicit(&claim->proof->lease_until, memory_order_acquire);
  enum claim_state state = claim_state(claim, turn);
  enum loss why = LOSS_LEASE_EXPIRED;
  *overdue = LOSS_NONE;
  if (state != CLAIM_HELD) return 0;
  if (claim->hold_until <= until) {
    until = claim->hold_until;
    why = LOSS_MAX_HOLD_REACHED;
  }
  int64_t now = clock_now();
  if (now < until) return until - now;
  *overdue = why;
  return 0;
}

int64_t claim_lease(const struct claim *claim, int turn) {
  enum loss overdue;
  return look(claim, turn, &overdue);
}

enum loss claim_overdue(const struct claim *claim, int turn) {
  enum loss overdue;
  look(claim, turn, &overdue);
  return overdue;
}

bool claim_is_held(const struct claim *claim, int turn) {
  return claim_lease(claim, turn) > 0;
}

/* Local turns. */

/* Without another client in the queue the number of turns is not limited.
 * Otherwise a hold has `local_turns` more turns, counted from the turn in which
 * the I/O thread noticed that another node may have joined. */
static bool is_last_turn(const struct claim *claim, int turn) {
  int until = atomic_load_explicit(&claim->alone_until, memory_order_acquire);
  return turn >= TURNS_MAX ||
         turn - until >= claim->contender.options.local_turns;
}

/* Returns whether only a release or the loss of the node can end the hold. With
 * max_hold or lose_on_suspend, one user's option would end the next user's
 * turn. */
static bool is_plain(const struct claim *claim) {
  const struct contender_options *options = &claim->contender.options;
  return options->max_hold == NEVER && !options->lose_on_suspend;
}

/* Begins a turn unless the hold has ended or another client asks for the
 * lock. */
static bool begin_turn(struct claim *claim) {
  int word = claim->word;
  do {
    if ((word & WORD_STATE) != CLAIM_HELD || word & WORD_ASKED_FOR)
      return false;
  } while (
      !atomic_compare_exchange_weak(&claim->word, &word, word + WORD_TURN));
  return true;
}

/* The next turn relies on the same facts about the node as the grant did, and
 * none of them has changed. If the connection or the lease ends right after the
 * checks, the result is the same as if the turn had begun just before. */
bool claim_pass_on(struct claim *claim, const struct turn *from,
                   struct turn *to) {
  const struct proof *proof = claim->proof;
  int64_t now = clock_now();
  if (is_last_turn(claim, from->index) || !is_plain(claim) ||
      now >= to->deadline || proof->state != SESSION_CONNECTED ||
      now >= proof->lease_until || !begin_turn(claim))
    return false;
  to->index = from->index + 1;
  claim->speaks_for = to->number;
  return true;
}

/* Half of the turns are used: check whether another client waits. */
bool claim_looks_around(struct claim *claim) {
  int turn = claim->word / WORD_TURN;
  if (claim->looks || 2 * turn < claim->contender.options.local_turns)
    return false;
  return claim->looks = true;
}

int wait_bucket(int64_t waited) {
  int bucket = 0;
  for (int64_t us = waited / 1000; us > 0 && bucket < WAIT_BUCKETS - 1; us /= 2)
    bucket++;
  return bucket;
}
