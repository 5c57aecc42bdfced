/* What the files of the contender share: contender.c (its life), turn.c (how
 * it learns of its turn), unfair.c and permit.c (two kinds with ways of their
 * own).  Nobody else includes this. */
#ifndef ZKLOCK_MOVES_H
#define ZKLOCK_MOVES_H

#include "session.h"

#pragma GCC visibility push(hidden)

static inline struct session *contender_session(const struct contender *c) {
  return c->lane->session;
}

static inline bool contender_is_waiting(const struct contender *c) {
  return c->state < CONTENDER_HELD;
}

static inline bool contender_is_unfair(const struct contender *c) {
  return c->options.kind == KIND_UNFAIR;
}

/* contender.c */
void contender_enter(struct contender *c, enum contender_state next);
void contender_set_name(struct contender *c, const char *name);
void contender_unwatch(struct contender *c); /* all but its own node */
/* Nobody is ahead of it. */
void contender_grant_or_prove(struct contender *c);
/* Its node does not exist: begins again at the tail. */
void contender_start_over(struct contender *c);
/* Its node must go, if there is one; ends with contender_reap. */
void contender_leave(struct contender *c);
/* LEAVING, and `made` tells now whether there is a node. */
void contender_leave_or_finish(struct contender *c);
/* Nothing of it is left on a server ... */
void contender_finish(struct contender *c);
/* ... and its memory goes once no reply can come any more. */
void contender_reap(struct contender *c);

/* turn.c */
void turn_settle(struct contender *c);
void turn_look_again(struct contender *c);
/* Who keeps it waiting, for its refusal to tell. */
void turn_note_rival(struct contender *c);
void turn_hear_revocation(struct contender *c, const struct reply *reply);
/* What was heard before the grant is told after it. */
void turn_tell_revocation(struct contender *c);

/* unfair.c */
void unfair_look(struct contender *c, struct watch **watch);
void unfair_mine(struct contender *c);
void unfair_queue(struct contender *c);
void unfair_watch(struct contender *c, struct watch *watch,
                  enum watch_news news, const struct reply *reply);

/* permit.c */
void permit_begin(struct contender *c);
void permit_end(struct contender *c);

#pragma GCC visibility pop

#endif
