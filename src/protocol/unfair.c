/* The unfair mutex: one node of one name, whoever makes it first.  A lane has
 * one contender of this kind at a time (see contender_may_enter), so a node of
 * our session's is ours, or was made for us by a create whose reply was lost.
 *
 * The name says nothing, so it is the node's owner and czxid that tell.  It is
 * not deleted before a look, unless its watch has been silent; and a delete
 * whose reply was lost is not repeated before a look: by then the name may be
 * somebody else's. */
#include "moves.h"

/* Reads the node, and watches it: whose is it? */
void unfair_look(struct contender *c, struct watch **watch) {
  if (!*watch) *watch = watch_want(c->lane, NAME_UNFAIR);
  if (!*watch)
    session_retry(contender_session(c));
  else if (watch_is_armed(*watch) && watch == &c->own)
    unfair_mine(c);
  else
    watch_arm(*watch);
}

void unfair_mine(struct contender *c) {
  c->listed_in = contender_session(c)->connection;
  c->ahead = 0;
  contender_grant_or_prove(c);
}

/* Somebody has it, or we have: wait, and see. */
void unfair_queue(struct contender *c) {
  if (!c->options.patient && !c->doubtful) {
    contender_refuse(c, VERDICT_BUSY, 0);
    return;
  }
  contender_enter(c, CONTENDER_QUEUED);
  c->ahead = 1;
  c->predecessor_holds = true;
  unfair_look(c, &c->predecessor);
}

/* The node that was read is ours: its watch is that of our own. */
static void unfair_found(struct contender *c, const struct reply *reply) {
  if (!c->made) session_found(contender_session(c), &c->create);
  c->made = c->proven = true;
  c->czxid = reply->czxid;
  c->owner_session = reply->owner;
  if (c->own) return;
  c->own = c->predecessor;
  c->predecessor = NULL;
}

/* The node was read. */
static void unfair_seen(struct contender *c, const struct reply *reply) {
  bool ours = reply->owner == contender_session(c)->id;
  if (ours) turn_hear_revocation(c, reply);
  if (c->state == CONTENDER_LEAVING && c->made) {
    c->made = ours && reply->czxid == c->czxid;
    contender_leave_or_finish(c);
    return;
  }
  if (c->state == CONTENDER_HELD) {
    if (ours && reply->czxid == c->czxid) return;
    contender_lose_node(c); /* deleted, and made again by somebody */
  } else if (c->state == CONTENDER_QUEUED) {
    c->doubtful = false;
    if (!ours && c->made) {
      contender_start_over(c);
    } else if (ours) {
      unfair_found(c, reply);
      unfair_mine(c);
    } else if (!c->options.patient) {
      contender_refuse(c, VERDICT_BUSY, 0);
    }
  } else if (c->state == CONTENDER_LEAVING && c->doubtful) {
    c->doubtful = false;
    if (ours) unfair_found(c, reply);
    contender_leave_or_finish(c);
  }
}

static void unfair_gone(struct contender *c) {
  if (c->state == CONTENDER_HELD) {
    contender_lose_node(c);
  } else if (c->state == CONTENDER_QUEUED) {
    contender_start_over(c);
  } else if (c->state == CONTENDER_LEAVING) {
    c->made = c->doubtful = false;
    contender_leave_or_finish(c);
  }
}

void unfair_watch(struct contender *c, struct watch *watch,
                  enum watch_news news, const struct reply *reply) {
  if (watch != c->own && watch != c->predecessor) return;
  if (news == WATCH_ARMED)
    unfair_seen(c, reply);
  else if (news == WATCH_GONE)
    unfair_gone(c);
  else
    watch_arm(watch);
}
