#include "turns.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "messages.h"
#include "protocol/hash.h"
#include "protocol/session.h"

/* That fit into a word, beside its other bits. */
enum { TURNS_MAX = 999999 };

/* The claims of one path that share its node. */
struct line {
  struct line *next;          /* in its bucket */
  int sent;                   /* that wait or hold, as far as is known here */
  struct claim *first, *last; /* that stand here, in order of arrival */
  uint64_t hash;
  char path[];
};

/* Lines. */

static struct line **bucket_of(struct turns *turns, uint64_t hash) {
  return &turns->lines[hash % LINE_BUCKETS];
}

static uint64_t hash_of(const struct claim *claim) {
  return hash_text(HASH_BEGIN, claim->path, claim->length);
}

static struct line *find_line(struct turns *turns, const struct claim *claim,
                              uint64_t hash) {
  struct line *line = *bucket_of(turns, hash);
  while (line && (line->hash != hash || strcmp(line->path, claim->path) != 0))
    line = line->next;
  return line;
}

static struct line *new_line(struct turns *turns, const struct claim *claim,
                             uint64_t hash) {
  struct line *line = malloc(sizeof *line + claim->length + 1);
  struct line **bucket = bucket_of(turns, hash);
  if (!line) return NULL;
  *line = (struct line){.next = *bucket, .hash = hash};
  memcpy(line->path, claim->path, claim->length + 1);
  *bucket = line;
  return line;
}

static void free_line(struct turns *turns, struct line *line) {
  struct line **at = bucket_of(turns, line->hash);
  while (*at != line) at = &(*at)->next;
  *at = line->next;
  free(line);
}

static bool stands_in_line(const struct claim *claim) {
  return claim->line && !claim->sent;
}

static void append(struct turns *turns, struct line *line,
                   struct claim *claim) {
  claim->line = line;
  claim->before = line->last;
  if (line->last)
    line->last->after = claim;
  else
    line->first = claim;
  line->last = claim;
  turns->waiting++;
}

static void step_out(struct turns *turns, struct claim *claim) {
  struct line *line = claim->line;
  assert(stands_in_line(claim));
  if (claim->before)
    claim->before->after = claim->after;
  else
    line->first = claim->after;
  if (claim->after)
    claim->after->before = claim->before;
  else
    line->last = claim->before;
  claim->line = NULL;
  claim->before = claim->after = NULL;
  turns->waiting--;
}

/* Sending. */

static void send(struct turns *turns, struct claim *claim,
                 struct message *message, int kind) {
  turns->port.send(turns->port.self, claim, message, kind);
}

static void send_claim(struct turns *turns, struct line *line,
                       struct claim *claim) {
  claim->sent = true;
  claim->line = line;
  if (line) line->sent++;
  send(turns, claim, &claim->begin, COMMAND_ACQUIRE);
}

static void send_first(struct turns *turns, struct line *line) {
  struct claim *claim = line->first;
  step_out(turns, claim);
  send_claim(turns, line, claim);
}

static void send_all(struct turns *turns, struct line *line) {
  while (line->first) send_first(turns, line);
}

/* It, and all ahead of it. */
static void send_up_to(struct turns *turns, const struct claim *claim) {
  struct line *line = claim->line;
  while (stands_in_line(claim)) send_first(turns, line);
}

/* One that was sent keeps nobody waiting any more. */
static void leave(struct turns *turns, struct claim *claim) {
  struct line *line = claim->line;
  if (!line) return;
  assert(claim->sent);
  claim->line = NULL;
  if (--line->sent > 0) return;
  if (line->first)
    send_first(turns, line);
  else
    free_line(turns, line);
}

/* Deadlines. */

static void call_at(struct turns *turns, int64_t due) {
  if (due >= turns->called_at) return;
  turns->called_at = due;
  turns->port.call_at(turns->port.self, due);
}

static int64_t deadline_of(const struct claim *claim) {
  return claim->contender.options.deadline;
}

/* Sends who has to give up; until when may the others stand? */
static int64_t send_overdue(struct turns *turns, struct line *line,
                            int64_t now) {
  int64_t least = NEVER;
  const struct claim *overdue = NULL;
  for (const struct claim *c = line->first; c; c = c->after)
    if (deadline_of(c) <= now) overdue = c;
  if (overdue) send_up_to(turns, overdue);
  for (const struct claim *c = line->first; c; c = c->after)
    if (deadline_of(c) < least) least = deadline_of(c);
  return least;
}

void turns_wake(struct turns *turns) {
  int64_t now = clock_now(), least = NEVER;
  turns->called_at = NEVER;
  for (int i = 0; i < LINE_BUCKETS; i++)
    for (struct line *line = turns->lines[i]; line; line = line->next) {
      int64_t due = send_overdue(turns, line, now);
      if (due < least) least = due;
    }
  call_at(turns, least);
}

/* Beginning. */

static bool shares_node(const struct claim *claim) {
  return claim->contender.options.handoffs > 0;
}

/* Does nothing but its release, or the loss of the node, end its turn?  A time
 * of its own (max_hold) and a loss of its own (on_suspend) are the I/O thread's
 * to watch over, which takes it for a part of the root's hold. */
static bool is_plain(const struct claim *claim) {
  const struct contender_options *options = &claim->contender.options;
  return options->max_hold == NEVER && !options->lose_on_suspend;
}

/* (Without memory for a line it is sent, as all before it were.) */
void turns_begin(struct turns *turns, struct claim *claim) {
  uint64_t hash = hash_of(claim);
  struct line *line = find_line(turns, claim, hash);
  claim->speaks_for = claim->number;
  if (!shares_node(claim)) {
    if (line) send_all(turns, line);
    send_claim(turns, NULL, claim);
    return;
  }
  if (!line) line = new_line(turns, claim, hash);
  if (line && line->sent > 0 && is_plain(claim) &&
      claim->contender.options.patient) {
    append(turns, line, claim);
    call_at(turns, deadline_of(claim));
    return;
  }
  if (line) send_all(turns, line);
  send_claim(turns, line, claim);
}

/* Giving up. */

void turns_cancel(struct turns *turns, struct claim *claim) {
  if (stands_in_line(claim)) send_up_to(turns, claim);
  send(turns, claim, &claim->cancel, COMMAND_CANCEL);
}

void turns_abandon(struct turns *turns, struct claim *claim) {
  if (stands_in_line(claim)) {
    step_out(turns, claim);
    claim->word = CLAIM_RELEASED;
    return;
  }
  send(turns, claim, &claim->release, COMMAND_ABANDON);
  leave(turns, claim);
}

/* Passing on. */

/* While nobody else stands in the queue nobody is kept waiting.  Else there are
 * `handoffs` turns at most, counted from when the I/O thread has heard that
 * somebody has come. */
static bool is_last_turn(const struct claim *claim) {
  const struct claim *root = claim->root ? claim->root : claim;
  return claim->turn >= TURNS_MAX ||
         claim_turns_in_company(root, claim->turn) >=
             claim->contender.options.handoffs;
}

/* Half of them are over: is anybody there who waits for the rest?  (A hold has no
 * other use for `cancel`; if it is under way, it does without.) */
static void look_around(struct turns *turns, const struct claim *claim,
                        struct claim *root) {
  if (root->looks || 2 * claim->turn < claim->contender.options.handoffs)
    return;
  root->looks = true;
  send(turns, root, &root->cancel, COMMAND_LOOK_AROUND);
}

/* As queue.c's may_be_passed_on, by what is published of it.  (Should that be
 * true no more in a moment, the word is, or the lease.) */
static bool may_be_passed_on(const struct turns *turns,
                             const struct claim *claim,
                             const struct claim *next) {
  const struct contender_options *options = &claim->contender.options;
  int64_t now = clock_now();
  return !is_last_turn(claim) && is_plain(claim) &&
         next->contender.options.handoffs == options->handoffs &&
         next->contender.options.layout == options->layout &&
         now < deadline_of(next) && turns->proof->state == SESSION_CONNECTED &&
         now < turns->proof->lease_until;
}

/* The next turn begins, if nothing has ended the hold. */
static bool count_turn(struct claim *root) {
  int word = root->word;
  do {
    if ((word & WORD_STATE) != CLAIM_HELD || word & WORD_ASKED_FOR)
      return false;
  } while (!atomic_compare_exchange_weak(&root->word, &word, word + WORD_TURN));
  return true;
}

static void tell_later(struct turns *turns, struct claim *claim) {
  claim_keep(claim);
  if (turns->untold)
    turns->newest->after = claim;
  else
    turns->untold = claim;
  turns->newest = claim;
}

/* What is known of the node is what was known of it when the root was granted
 * it: nothing that the grant stood on has changed. */
static void take_over(struct turns *turns, struct claim *claim,
                      struct claim *from, struct claim *root) {
  step_out(turns, claim);
  claim_keep(root);
  claim->root = root;
  claim->token = from->token;
  claim->turn = from->turn + 1;
  claim->hold_until = NEVER;
  root->speaks_for = claim->number;
  from->over = true;
  turns->taken++;
  turns->waits[wait_bucket(clock_now() - claim->asked)]++;
  tell_later(turns, claim);
}

static bool pass_on(struct turns *turns, struct claim *claim,
                    struct claim *next) {
  struct claim *root = claim_root(claim);
  if (!may_be_passed_on(turns, claim, next) || !count_turn(root)) return false;
  take_over(turns, next, claim, root);
  look_around(turns, next, root);
  return true;
}

bool turns_release(struct turns *turns, struct claim *claim, bool report) {
  struct claim *root = claim_root(claim);
  struct line *line = root->line;
  struct claim *next = line && line->sent == 1 ? line->first : NULL;
  if (next && !report && pass_on(turns, claim, next)) return true;
  if (!claim_end_hold(root, CLAIM_RELEASED))
    return claim_said(root) == CLAIM_RELEASED;
  if (next) send_first(turns, line); /* and so may be passed it there */
  send(turns, root, &root->release,
       report ? COMMAND_RELEASE_AND_TELL : COMMAND_RELEASE);
  leave(turns, root);
  return true;
}

bool turns_lose(struct turns *turns, struct claim *claim, enum loss why) {
  struct claim *root = claim_root(claim);
  if (!claim_end_hold(root, CLAIM_LOST + (int)why)) return false;
  send(turns, root, &root->release, COMMAND_LOSE);
  leave(turns, root);
  return true;
}

/* What is heard. */

/* What is refused to one may be refused to all at once. */
static bool concerns_all(enum verdict why) {
  return why != VERDICT_TIMEOUT && why != VERDICT_BUSY &&
         why != VERDICT_CANCELLED;
}

void turns_heard(struct turns *turns, struct claim *claim) {
  if (!claim->line) return;
  if (claim_said(claim) == CLAIM_REFUSED && concerns_all(claim->verdict))
    send_all(turns, claim->line);
  leave(turns, claim);
}

struct claim *turns_take(struct turns *turns) {
  struct claim *claim = turns->untold;
  if (!claim) return NULL;
  turns->untold = claim->after;
  claim->after = NULL;
  return claim;
}

int wait_bucket(int64_t waited) {
  int bucket = 0;
  for (int64_t us = waited / 1000; us > 0 && bucket < WAIT_BUCKETS - 1; us /= 2)
    bucket++;
  return bucket;
}

/* Birth and death. */

void turns_init(struct turns *turns, const struct turns_port *port,
                const struct proof *proof) {
  *turns = (struct turns){.port = *port, .proof = proof, .called_at = NEVER};
}

void turns_free(struct turns *turns) {
  struct claim *claim;
  while ((claim = turns_take(turns))) claim_drop(claim);
  for (int i = 0; i < LINE_BUCKETS; i++)
    for (struct line *line = turns->lines[i], *next; line; line = next) {
      next = line->next;
      free(line);
    }
}
