#include "claim.h"

#include <assert.h>
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
  if (permit && !(claim->gate = malloc(contender))) {
    free(claim);
    return NULL;
  }
  claim->references = 1;
  claim->proof = proof;
  claim->prefix = prefix;
  claim->length = length;
  claim->path = (char *)&claim->contender + contender;
  memcpy(claim->path, chroot, prefix); /* NOLINT: the next line ends it */
  strcpy(claim->path + prefix, path);
  if (permit) strcpy(claim->path + length, PERMITS);
  claim->data = claim->path + whole + 1;
  if (size) memcpy(claim->data, data, size);
  struct message *messages[] = {&claim->acquire, &claim->cancel,
                                &claim->release, &claim->watch,
                                &claim->decided, &claim->lost,
                                &claim->revoked, &claim->gone};
  for (int i = 0; i < 8; i++)
    *messages[i] = (struct message){.subject = claim, .drop = drop};
  struct contender_options own = *options;
  own.data = claim->data;
  own.size = (int)size;
  contender_init(&claim->contender, &own, tell, claim);
  claim->contender.gate = claim->gate;
  return claim;
}

void claim_keep(struct claim *claim) { claim->references++; }

void claim_drop(struct claim *claim) {
  int left = --claim->references;
  assert(left >= 0);
  if (left > 0) return;
  free(claim->gate);
  free(claim);
}

void claim_decide(struct claim *claim, enum claim_state state) {
  assert(claim->state == CLAIM_WAITING);
  if (state == CLAIM_HELD) claim->proof->held++;
  atomic_store_explicit(&claim->state, state, memory_order_release);
}

bool claim_end_hold(struct claim *claim, int next) {
  int held = CLAIM_HELD;
  if (!atomic_compare_exchange_strong(&claim->state, &held, next)) return false;
  claim->proof->held--;
  return true;
}

/* The order of the loads is the argument.  When a session expires the I/O
 * thread first marks its claims LOST and only then lets a new session's lease
 * be seen: whoever sees that lease sees the mark.  The clock is read last, so
 * that nothing older than what it is compared with can make the answer true. */
static int64_t look(const struct claim *claim, enum loss *overdue) {
  int64_t until =
      atomic_load_explicit(&claim->proof->lease_until, memory_order_acquire);
  int state = atomic_load_explicit(&claim->state, memory_order_acquire);
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

enum loss claim_loss(const struct claim *claim) {
  int state = claim->state;
  return state > CLAIM_LOST ? (enum loss)(state - CLAIM_LOST) : LOSS_NONE;
}

bool claim_is_held(const struct claim *claim) { return claim_lease(claim) > 0; }
