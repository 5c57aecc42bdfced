#include "follow.h"

#include "rule.h"

/* Following the tail.  Who comes back to a queue knows from its last list whom it
 * will find just ahead of it (tail.h).  It watches that one, X, and needs no list
 * before X goes: then one tells who else is ahead.
 *
 * Whom it waits for keeps it waiting by the rule: X's number is below its own,
 * and its kind such that a list that shows both would name X as well.  So X is
 * nobody whom it would not have to wait for anyway; and if X is gone already, the
 * watch's reply says so.  Nor does anybody before X wait in vain: the list that
 * showed X showed them, too, and strays of ours were seen to (life_start_over
 * forgets the tail).  But who follows has *seen* nothing (`listed_in`): whatever
 * is told of X makes it ask for a list, and only what that list shows can grant.
 *
 * That list comes in time if it is asked for when the last one ahead of us is about
 * to hold the lock: then we are told of that one's deletion as everybody else is.
 * It is when X goes, if one has come in between: the one whom we were granted
 * after, mostly, who comes back as we do.  If none has, it is when the one before X
 * goes, which is watched, too. */

enum { FEW = 2 }; /* have come in between: else a list is asked for at once */

/* (For who stands further back it would cost as much again, and is not true for
 * long.) */
void follow_note_tail(const struct contender *c, const struct listing *listing,
                      const struct entry *own) {
  if (contender_waits_by_list(c) || c->view.ahead > 1) return;
  tail_note(&c->queue->tail, contender_wire(c)->connection, c->options.kind,
            listing, own);
}

static const struct tail *tail_of(const struct contender *c) {
  return tail_for(c->queue->tail, contender_wire(c)->connection,
                  c->options.kind,
                  rule_role(c->options.kind, c->options.layout));
}

bool follow_knows_tail(const struct contender *c) { return tail_of(c); }

/* Where somebody stood behind us our next node will not be the first: whose it is
 * can be asked while we wait. */
bool follow_joins(const struct contender *c) {
  return c->options.patient && !c->options.downgrade && tail_of(c);
}

/* (With only one ahead a list at once costs no more, and its deletion grants.) */
static bool may_follow(const struct contender *c) {
  const struct tail *tail = tail_of(c);
  return tail && c->options.patient && !c->options.downgrade &&
         !contender_waits_by_list(c) && tail->length > 1;
}

static void ask_ahead(struct contender *c) {
  struct watches *watches = &contender_directory(c)->watches;
  if (watch_want(&c->predecessor, watches, tail_of(c)->last))
    watch_arm(&c->predecessor);
}

/* Wants watched whom it follows.  `gap`: so many have come in between. */
static bool choose(struct contender *c, const struct tail *tail, int gap) {
  struct watches *watches = &contender_directory(c)->watches;
  bool early = gap == 0 && tail->before[0];
  if (early && !watch_want(&c->before, watches, tail->before)) return false;
  return watch_want(&c->predecessor, watches, tail->last);
}

/* Its node has been made: QUEUED, if it knows whom to wait for. */
static bool follow(struct contender *c) {
  const struct tail *tail = tail_of(c);
  int gap = tail ? tail_gap(tail, c->node.name) : -1;
  if (gap < 0 || gap > FEW || !choose(c, tail, gap)) return false;
  c->view.phase = VIEW_AT_LEAST;
  c->view.ahead = tail->length + gap;
  contender_enter(c, CONTENDER_QUEUED);
  watch_arm(&c->predecessor);
  watch_arm(&c->before);
  return true;
}

bool follow_begin(struct contender *c) {
  bool follows = may_follow(c);
  c->view.phase = follows ? VIEW_FOLLOWS : VIEW_PLAIN;
  if (follows) ask_ahead(c);
  return follows;
}

bool follow_go_on(struct contender *c) {
  bool asks = false;
  if (c->view.phase == VIEW_FOLLOWS) {
    c->view.phase = VIEW_PLAIN;
    asks = !follow(c);
  }
  if (tail_of(c)) tail_grow(c->queue->tail, c->node.name);
  return !asks;
}

void follow_lose(struct contender *c) {
  watch_drop(&c->predecessor);
  c->view.phase = VIEW_PLAIN;
  directory_list(contender_directory(c), c->node.serial);
}
