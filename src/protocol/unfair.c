/* The unfair mutex: one node of one name, whoever makes it first.  A queue has
 * one contender of this kind at a time (`exclusive`), so a node of our session's
 * is ours, or was made for us by a create whose reply was lost.
 *
 * The name says nothing, so it is the node's owner and czxid that tell.  It is
 * not deleted before a look, unless its watch has been silent, and that within a
 * lease: without one, news of the node may be long on their way.  A delete whose
 * reply was lost is not repeated before a look, either: by then the name may be
 * somebody else's.  A create that was lost may be applied later, when the node
 * has been looked for and not found: that doubt stays until a create of ours is
 * answered, or the node is seen to be another's. */
#include "unfair.h"

#include <assert.h>
#include <string.h>

#include "life.h"
#include "rival.h"

/* Whose a node is that we may not look at: some session's, as far as we know. */
enum { HIDDEN_OWNER = -1 };

static void name(const struct contender *c, char *text, size_t size) {
  (void)c;
  assert(size >= sizeof NAME_UNFAIR);
  memcpy(text, NAME_UNFAIR, sizeof NAME_UNFAIR);
}

static void mine(struct contender *c) {
  c->view.listed_in = contender_wire(c)->connection;
  c->view.ahead = 0;
  life_be_first(c);
}

/* Reads the node, and watches it: whose is it? */
static void look_by(struct contender *c, struct watcher *watcher) {
  if (!watcher->watch &&
      !watch_want(watcher, &c->queue->directory.watches, NAME_UNFAIR))
    wire_retry(contender_wire(c));
  else if (watch_is_armed(watcher) && watcher == &c->own)
    mine(c);
  else
    watch_arm(watcher);
}

/* Somebody has it, or we have: wait, and see. */
static void wait(struct contender *c) {
  if (!c->options.patient && c->node.known != NODE_MAYBE) {
    life_refuse(c, VERDICT_BUSY, 0);
    return;
  }
  contender_enter(c, CONTENDER_QUEUED);
  c->view.ahead = 1;
  c->view.nearest_holds = true;
  look_by(c, &c->predecessor);
}

static void made(struct contender *c) {
  if (c->node.known == NODE_OURS)
    mine(c);
  else
    wait(c);
}

/* The node that was read is ours: its watch is that of our own. */
static void found(struct contender *c, const struct reply *reply) {
  if (!contender_has_node(c)) wire_found(contender_wire(c), c->node.bytes);
  c->node.known = NODE_OURS;
  c->node.czxid = reply->czxid;
  c->node.owner_session = reply->owner;
  if (!c->own.watch) watch_hand_over(&c->predecessor, &c->own);
}

/* The node was read. */

static void seen_while_leaving(struct contender *c, bool ours,
                               const struct reply *reply) {
  bool known = contender_has_node(c);
  c->view.looked = true;
  if (!ours || (known && reply->czxid != c->node.czxid))
    c->node.known = NODE_NONE;
  else if (!known)
    found(c, reply);
  life_go_on_leaving(c);
}

/* No session's node can be passed over as elsewhere: it has the one name. */
static void tell_of_nobody(const struct contender *c,
                           const struct reply *reply) {
  if (reply->owner == 0)
    wire_trouble(contender_wire(c), "cannot take the lock", c->path,
                 REASON_STAYS);
}

static void seen_while_queued(struct contender *c, bool ours,
                              const struct reply *reply) {
  if (ours) {
    found(c, reply);
    mine(c);
  } else if (contender_has_node(c)) {
    c->node.known = NODE_NONE;
    life_start_over(c);
  } else {
    c->node.known = NODE_NONE;
    tell_of_nobody(c, reply);
    if (!c->options.patient) life_refuse(c, VERDICT_BUSY, 0);
  }
}

static void seen(struct contender *c, const struct reply *reply) {
  bool ours = reply->owner == contender_wire(c)->session;
  if (ours) life_hear_revocation(c);
  if (c->state == CONTENDER_LEAVING)
    seen_while_leaving(c, ours, reply);
  else if (c->state == CONTENDER_QUEUED)
    seen_while_queued(c, ours, reply);
  else if (!ours || reply->czxid != c->node.czxid)
    life_lose_node(c); /* deleted, and made again by somebody */
}

static void gone(struct contender *c) {
  if (c->state == CONTENDER_HELD) {
    life_lose_node(c);
  } else if (c->state == CONTENDER_QUEUED) {
    life_start_over(c);
  } else if (c->state == CONTENDER_LEAVING) {
    c->node.known = NODE_NONE;
    life_go_on_leaving(c);
  }
}

/* The node is there, and we may not look at it: our ACL lets us read our nodes
 * (doc/paths.md), so it is another's, unless we know that it was ours: then its ACL
 * was changed, and no server tells us whether it still is. */
static void hidden(struct contender *c, const struct reply *reply) {
  bool known = contender_has_node(c);
  if (c->state == CONTENDER_HELD) return;
  if (!known)
    seen(c, &(const struct reply){.rc = reply->rc, .owner = HIDDEN_OWNER});
  else if (c->state == CONTENDER_LEAVING)
    life_leaving_answered(c, OP_PING, reply);
  else
    life_deny_hidden(c);
}

static void heard(struct watcher *watcher, enum watch_news news,
                  const struct reply *reply) {
  struct contender *c = watcher_owner(watcher);
  if (news == WATCH_ARMED)
    seen(c, reply);
  else if (news == WATCH_HIDDEN)
    hidden(c, reply);
  else if (news == WATCH_GONE)
    gone(c);
  else
    watch_arm(watcher);
}

/* The rest of the way. */

static void sent(struct contender *c) { (void)c; }

static void find(struct contender *c) {
  if (c->state == CONTENDER_LEAVING)
    directory_list_anew(&c->queue->directory);
  else
    directory_list(&c->queue->directory, 0);
}

/* A list after our create: what the node is now tells whether it is ours. */
static void listed(struct contender *c, const struct listing *listing) {
  (void)listing;
  if (c->node.known != NODE_MAYBE || contender_is_creating(c)) return;
  if (c->state == CONTENDER_LEAVING) look_by(c, &c->predecessor);
  if (c->state == CONTENDER_FINDING) wait(c);
}

static void look(struct contender *c) {
  look_by(c, contender_has_node(c) ? &c->own : &c->predecessor);
}

static void look_anew(struct contender *c) { look_by(c, &c->own); }

static void due(struct contender *c) { (void)c; } /* (it never polls) */

/* (One look is good for one delete.) */
static bool may_remove(struct contender *c) {
  bool looked = c->view.looked;
  bool stands = wire_lease_stands(contender_wire(c));
  c->view.looked = false;
  if (looked || (watch_is_armed(&c->own) && stands)) return true;
  if (c->own.watch)
    watch_read(&c->own); /* still ours? */
  else
    look_by(c, &c->own);
  return false;
}

static void note_rival(struct contender *c) {
  if (c->state == CONTENDER_PARKED)
    rival_note_holder(c);
  else if (watch_is_known(&c->predecessor))
    rival_note_watched(c);
}

const struct way unfair_way = {.exclusive = true,
                               .name = name,
                               .enter = life_enter,
                               .sent = sent,
                               .made = made,
                               .exists = wait,
                               .find = find,
                               .look = look,
                               .look_anew = look_anew,
                               .due = due,
                               .may_remove = may_remove,
                               .listed = listed,
                               .heard = heard,
                               .note_rival = note_rival};
