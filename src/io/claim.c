#include "claim.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

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
  if (claim->root) claim_drop(claim->root); /* (which has none) */
  free(claim->contender.gate);
  free(claim);
}

/* The I/O thread's word, after all else of it is written. */
static void decide(struct claim *claim, enum claim_state state) {
  assert(claim->word == CLAIM_WAITING);
  if (state == CLAIM_HELD) claim->proof->held++;
  atomic_store_explicit(&claim->word, state, memory_order_release);
}

void claim_grant(struct claim *claim) {
  const struct contender *c = &claim->contender;
  claim->token = contender_token(c);
  claim->hold_until = c->timer.due;
  claim->turn = c->node.turn;
  decide(claim, CLAIM_HELD);
}

static void note_rival(struct claim *claim, const struct rival *rival) {
  int size = rival->size, shown = size < OP_SHOWN ? size : OP_SHOWN;
  if (!rival->data || size <= 0) return;
  claim->rival = malloc(sizeof *claim->rival + (size_t)shown);
  if (!claim->rival) return; /* it is for the message only */
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
  atomic_store_explicit(&claim->alone_until, claim->turn + claim_turns(claim),
                        memory_order_release);
}

int claim_turns_in_company(const struct claim *claim, int turn) {
  int until = atomic_load_explicit(&claim->alone_until, memory_order_acquire);
  return turn > until ? turn - until : 0;
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

enum claim_state claim_said(const struct claim *claim) {
  int word = atomic_load_explicit(&claim->word, memory_order_acquire);
  return (enum claim_state)(word & WORD_STATE);
}

enum loss claim_said_loss(const struct claim *claim) {
  return loss_of((int)claim_said(claim));
}

int claim_turns(const struct claim *claim) { return claim->word / WORD_TURN; }

/* The Lua thread. */

struct claim *claim_root(struct claim *claim) {
  return claim->root ? claim->root : claim;
}

const char *claim_node(struct claim *claim) {
  return contender_watch_name(&claim_root(claim)->contender);
}

enum claim_state claim_state(const struct claim *claim) {
  if (claim->over) return CLAIM_RELEASED;
  return claim_said(claim->root ? claim->root : claim);
}

enum loss claim_loss(const struct claim *claim) {
  return loss_of((int)claim_state(claim));
}

/* The order of the loads is the argument.  When a session expires the I/O
 * thread first marks its claims LOST and only then lets a new session's lease
 * be seen: whoever sees that lease sees the mark.  (For who was passed its node
 * that is the mark of the root.)  The clock is read last, so that nothing older
 * than what it is compared with can make the answer true. */
static int64_t look(const struct claim *claim, enum loss *overdue) {
  int64_t until =
      atomic_load_explicit(&claim->proof->lease_until, memory_order_acquire);
  enum claim_state state = claim_state(claim);
  enum loss why = LOSS_SILENCE;
  *overdue = LOSS_NONE;
  if (state != CLAIM_HELD) return 0;
  if (claim->hold_until <= until) {
    until = claim->hold_until;
    why = LOSS_MAX_HOLD;
  }
  int64_t now = clock_now();
  if (now < until) return until - now;
  *overdue = why;
  return 0;
}

int64_t claim_lease(const struct claim *claim) {
  enum loss overdue;
  return look(claim, &overdue);
}

enum loss claim_overdue(const struct claim *claim) {
  enum loss overdue;
  look(claim, &overdue);
  return overdue;
}

bool claim_is_held(const struct claim *claim) { return claim_lease(claim) > 0; }
