/* How a member leaves. A leaving member waits until all members of its first
 * list have left. It does not wait for members that come later: they belong to
 * the next run of the barrier. A later member may wait for this member. If this
 * member waited for it, too, neither could continue.
 *
 * The lowest member, by the bytes of the names, keeps its node. It waits until
 * the highest member's node is deleted, and lists again. When it is alone, it
 * deletes `ready` and then its own node. Every other member deletes its node at
 * once, waits until the lowest member's node is deleted, and lists again. It
 * repeats this until no member of its first list is left. If the lowest member
 * has died, a member that is alone deletes `ready`, too.
 *
 * A member must not delete the `ready` of the next run, because some member may
 * not have seen it yet. The next run counts the last member's node, so it may
 * begin at any moment. But it cannot begin without a create. The reply to a
 * list contains the number of children ever created in the directory. A server
 * gives that number to the next sequential node. So one transaction creates
 * such a node, deletes the node with that number, and deletes `ready`. If
 * another node was created since the list, the second part fails, and with it
 * the whole transaction. So a late transaction deletes nothing of another run.
 * Exception: a directory that was deleted and created again counts from 0, and
 * may reach that very number.
 *
 * With these rules, no member is out before all members have begun to leave, or
 * are dead. A member that has not begun to leave still has its node. The lowest
 * member stays while there is another node. No member waits forever for a dead
 * member, because a node ends with its session. If the lowest member dies, the
 * others wait for the next lowest.
 *
 * Curator's members wait for all nodes of each list, and so also for members of
 * the next run. Each of them deletes `ready`, even the `ready` of the next run.
 * zklock's members keep `ready` while two members are left: one of them may
 * have lost its connection before it saw `ready`. */
#include "node_wait.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static op_handler on_answer, on_heartbeat;

static struct pipeline *pipeline_of(const struct barrier_leave *d) {
  return d->of->all->pipeline;
}

/* Ending a barrier leave. */

static void settle(struct deferred_call *call) {
  struct barrier_leave *d =
      (struct barrier_leave *)((char *)call -
                               offsetof(struct barrier_leave, end));
  if (d->state != BARRIER_LEAVE_OVER || d->op.in_flight ||
      d->heartbeat.in_flight)
    return;
  listing_free(d->others);
  free(d->child_path);
  d->others = NULL;
  d->child_path = NULL;
  d->owner.forgotten(d->owner.self);
}

static void release(struct barrier_leave *d) {
  if (!d->inside) return;
  d->inside = false;
  d->owner.release(d->owner.self);
}

static void on_end(struct node_wait *v, bool all) {
  struct barrier_leave *d = v->owner;
  enum barrier_leave_state state = d->state;
  /* Set this first: when the node wait ends, `on_gone` must not end the leave
   * again. */
  d->state = BARRIER_LEAVE_OVER;
  if (state == BARRIER_LEAVE_WAITS)
    node_wait_refuse(&d->node_wait, v->refusal_code, v->reason);
  release(d);
  d->owner.ended(d->owner.self, all);
  deferred_call_add(&pipeline_of(d)->step, &d->end);
}

/* Requests. */

/* Sends `op`, unless it is in flight. If the send fails, node_waits_drive repeats
 * it. */
static void submit(struct barrier_leave *d, struct op op) {
  if (d->op.in_flight) return;
  op.handler = on_answer;
  op.owner = d;
  d->op = op;
  pipeline_submit(pipeline_of(d), &d->op);
}

/* Requests a list of the members. The leave does not wait for members that the
 * first list lacks. So the first list must not be older than the leave: zklock
 * sends a heartbeat (a committed no-op) before it. */
static void list(struct barrier_leave *d) {
  d->state = BARRIER_LEAVE_LISTS;
  if (pipeline_must_pause(pipeline_of(d), &d->backoff)) return;
  if (!d->others && !d->heartbeat.in_flight && !d->op.in_flight &&
      !pipeline_submit(pipeline_of(d), &d->heartbeat))
    return;
  submit(d, (struct op){.kind = OP_NAMES, .path = d->wait.path});
}

/* Sets `d->child_path` to the path of the child `name`. Returns false if there
 * is no memory, and schedules a retry. */
static bool set_child_path(struct barrier_leave *d, const char *name) {
  size_t length = strlen(d->wait.path);
  free(d->child_path);
  d->child_path = malloc(length + 1 + strlen(name) + 1);
  if (!d->child_path) {
    pipeline_retry(pipeline_of(d));
    return false;
  }
  memcpy(d->child_path, d->wait.path, length);
  d->child_path[length] = '/';
  strcpy(d->child_path + length + 1, name);
  return true;
}

/* Sends the delete of `ready`, and then releases the member's own node. The
 * server refuses the delete if it has created more than `creates` children in
 * the directory. */
static void delete_ready(struct barrier_leave *d, int creates) {
  if (!set_child_path(d, NAME_READY)) return;
  d->state = BARRIER_LEAVE_DELETES;
  submit(d, (struct op){.kind = OP_REMOVE,
                        .path = d->child_path,
                        .counted = true,
                        .creates = creates});
  release(d);
}

static void on_gone(struct node_wait *v, bool met) {
  struct barrier_leave *d = v->owner;
  if (d->state != BARRIER_LEAVE_WAITS) return;
  if (met)
    list(d);
  else
    node_wait_refuse(&d->wait, v->refusal_code, v->reason);
}

static void wait_for_member(struct barrier_leave *d,
                            const struct entry *other) {
  if (!d->wait.patient) {
    node_wait_refuse(&d->wait, REFUSED_TIMEOUT, 0);
    return;
  }
  if (!set_child_path(d, other->name)) return;
  d->node_wait = (struct node_wait){.path = d->child_path,
                                    .kind = NODE_WAIT_GONE,
                                    .patient = true,
                                    .until = NEVER,
                                    .ended = on_gone,
                                    .owner = d};
  d->state = BARRIER_LEAVE_WAITS;
  if (node_wait_begin(d->of, &d->node_wait)) return;
  d->state = BARRIER_LEAVE_LISTS;
  pipeline_retry(pipeline_of(d));
}

/* Handling a list. */

static bool is_in(const struct listing *listing, const char *name) {
  for (int i = 0; i < listing->count; i++)
    if (strcmp(listing->entries[i].name, name) == 0) return true;
  return false;
}

static bool is_other(const struct barrier_leave *d, const char *name) {
  return strcmp(name, d->own) != 0 && strcmp(name, NAME_READY) != 0;
}

/* Stores the members of the first list, because the leave waits for them. After
 * each later list, removes the members that the list lacks. The stored list and
 * `listing` are sorted by name. Returns false if there is no memory. */
static bool drop_missing(struct barrier_leave *d,
                         const struct listing *listing) {
  const struct listing *known = d->others;
  const char **names = malloc(((size_t)listing->count + 1) * sizeof *names);
  int count = 0;
  if (!names) return false;
  for (int i = 0, k = 0; i < listing->count; i++) {
    const char *name = listing->entries[i].name;
    while (known && k < known->count &&
           strcmp(known->entries[k].name, name) < 0)
      k++;
    bool waited = !known || (k < known->count &&
                             strcmp(known->entries[k].name, name) == 0);
    if (waited && is_other(d, name)) names[count++] = name;
  }
  struct listing *left = listing_new_of_all(names, count);
  free(names);
  if (!left) return false;
  listing_free(d->others);
  d->others = left;
  return true;
}

/* Ends the barrier leave, because `listing` shows no member for which it waits.
 * First deletes `ready`, if the list shows `ready` and no member of the next
 * run. */
static void end_as_last(struct barrier_leave *d,
                        const struct listing *listing) {
  bool alone = listing->count == 1 + is_in(listing, d->own);
  if (alone && is_in(listing, NAME_READY))
    delete_ready(d, listing->creates);
  else
    node_wait_succeed(&d->wait);
}

static void listed(struct barrier_leave *d, const struct listing *listing) {
  const struct listing *others;
  if (!drop_missing(d, listing)) {
    pipeline_retry(pipeline_of(d));
    return;
  }
  others = d->others;
  if (others->count == 0) {
    end_as_last(d, listing);
    return;
  }
  const struct entry *lowest = &others->entries[0];
  const struct entry *highest = &others->entries[others->count - 1];
  if (d->inside && is_in(listing, d->own) && strcmp(d->own, lowest->name) < 0) {
    wait_for_member(d, highest);
    return;
  }
  release(d);
  wait_for_member(d, lowest);
}

static void on_heartbeat(struct op *op, const struct reply *reply) {
  struct barrier_leave *d = op->owner;
  d->is_confirmed = reply_proves(op->kind, reply->rc);
  if (d->state == BARRIER_LEAVE_OVER)
    deferred_call_add(&pipeline_of(d)->step, &d->end);
}

/* Requests the list again after a pause, because a server has refused the
 * request temporarily. A member that is not `patient` gives up instead. */
static void list_later(struct barrier_leave *d, int rc) {
  pipeline_back_off(pipeline_of(d), &d->backoff, rc);
  d->state = BARRIER_LEAVE_LISTS;
  if (!d->wait.patient) node_wait_refuse(&d->wait, refusal_code_of(rc), rc);
}

static void on_answer(struct op *op, const struct reply *reply) {
  static const struct listing empty;
  struct barrier_leave *d = op->owner;
  int rc = reply->rc;
  if (d->state == BARRIER_LEAVE_OVER) {
    deferred_call_add(&pipeline_of(d)->step, &d->end);
  } else if (reply_is_unknown(rc)) {
    d->state = BARRIER_LEAVE_LISTS; /* list again in the next connection */
  } else if (reply_is_transient(rc) &&
             (d->wait.patient || op->kind != OP_REMOVE)) {
    list_later(d, rc);
  } else if (op->kind == OP_REMOVE) {
    if (rc != REPLY_OK && rc != REPLY_NO_NODE && rc != REPLY_UNDONE)
      pipeline_warn(pipeline_of(d), "cannot delete", op->path, rc);
    node_wait_succeed(&d->wait);
  } else if (!d->others && !d->is_confirmed) {
    /* The heartbeat before the list was not committed, so the list may be
     * old. */
    pipeline_back_off(pipeline_of(d), &d->backoff, rc);
  } else if (rc == REPLY_NO_NODE) {
    listed(d, &empty);
  } else if (rc == REPLY_OK && reply->listing) {
    refusals_end(&d->backoff);
    listed(d, reply->listing);
  } else if (rc == REPLY_OK) {
    pipeline_retry(pipeline_of(d)); /* no memory for the list */
  } else {
    node_wait_refuse(&d->wait, refusal_code_of(rc), rc);
  }
}

static void drive(struct node_wait *v) {
  struct barrier_leave *d = v->owner;
  d->of = v->of;
  if (d->state == BARRIER_LEAVE_LISTS ||
      (d->state == BARRIER_LEAVE_DELETES && !d->op.in_flight)) {
    d->heartbeat.path = pipeline_of(d)->heartbeat.path;
    list(d);
  }
}

void barrier_leave_prepare(struct barrier_leave *d) {
  d->wait.kind = NODE_WAIT_LEAVE;
  d->wait.drive = drive;
  d->wait.ended = on_end;
  d->wait.owner = d;
  d->end = (struct deferred_call){.run = settle};
  d->inside = true;
  d->heartbeat =
      (struct op){.kind = OP_HEARTBEAT, .handler = on_heartbeat, .owner = d};
}
