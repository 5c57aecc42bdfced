/* The common way of waiting: contenders are served in the order of their nodes'
 * sequence numbers. A list shows a contender's position (queue_position.c).
 * Watches report when the contender becomes first. */
#include "queued.h"

#include <string.h>

#include "acquire_fsm.h"
#include "fast_requeue.h"
#include "hash.h"
#include "queue.h"

/* If `c` is the reader of a downgrade, watches the node of its writer. When a
 * later list shows both nodes, this watch proves that the listed node is still
 * the writer's. */
static void watch_writer(const struct contender *c) {
  struct contender *writer = queue_writer(c);
  if (writer) acquire_fsm_watch_own(writer);
}

static void queued_enter(struct contender *c) {
  watch_writer(c);
  acquire_fsm_enter(c);
}

void queued_store_blocker(struct contender *c) {
  if (c->state == CONTENDER_PARKED && c->options.kind == KIND_MUTEX)
    blocker_store_holder(c);
  else if (contender_sees(c))
    blocker_store_watched(c);
}

/* News of watches. */

/* Called because the predecessor was deleted. Grants the lock if it was the
 * only node ahead (facts 2 and 3 in acquire_fsm.c). Otherwise requests a list.
 * If a list is in flight, no other list is needed: its reply comes after this
 * event, so it is not older. */
static void on_predecessor_gone(struct contender *c) {
  bool only_one =
      contender_sees(c) && c->view.ahead == 1 && c->view.nearest_proves;
  bool first =
      only_one && c->node.known == NODE_OURS && contender_watches_own(c);
  watch_drop(&c->predecessor);
  if (!first) {
    if (c->view.phase == VIEW_AT_LEAST && !contender_is_surely_ours(c))
      queue_position_watch_own(c);
    contender_list_again(c);
    return;
  }
  c->view.ahead = 0;
  counter_add(&contender_pipeline(c)->counters.handoffs, 1);
  acquire_fsm_be_first(c);
}

/* Called because the node before the predecessor was deleted. Checks whether
 * the predecessor, which is about to hold the lock, is now the only node ahead.
 * If so, its deletion can grant the lock without another request. */
static void on_before_gone(struct contender *c) {
  watch_drop(&c->before);
  if (contender_sees(c) && c->view.ahead == 2 && c->view.before_proves) {
    c->view.ahead = 1;
    /* For a reader, both nodes ahead are writers'. Readers between the two do
     * not block it, and may hold the lock instead of the predecessor. */
    if (c->options.kind != KIND_READ) c->view.nearest_holds = true;
  } else {
    queue_position_watch_own(c);
    contender_list_again(c);
  }
}

/* Records that the node of a leaving contender was deleted. Without `reply`, an
 * event has reported this: the node was deleted after all known lists. So the
 * waiters behind it count one node less. With `reply`, a read did not find the
 * node, which was deleted at an unknown time. */
static void on_own_deleted(struct contender *c, const struct reply *reply) {
  if (!reply && watch_was_of(&c->own, c->node.czxid)) acquire_fsm_count_down(c);
  c->node.has_left = true;
}

static void on_own_gone(struct contender *c) {
  if (c->state == CONTENDER_QUEUED && c->node.known == NODE_MADE)
    acquire_fsm_refute(c);
  else if (c->state == CONTENDER_QUEUED)
    acquire_fsm_start_over(c);
  else
    acquire_fsm_lose_node(c);
}

static void on_own_read(struct contender *c, const struct reply *reply) {
  if (!contender_owns(c, reply)) {
    watch_drop(&c->own); /* another session's node has this name */
    on_own_gone(c);
    return;
  }
  contender_prove(c, reply);
  acquire_fsm_check_revocation(c);
  if (c->state == CONTENDER_QUEUED && contender_sees(c)) c->wait_ops->check(c);
}

/* Called because the ACL of the contender's own node forbids reading. If `c`
 * waits, makes it search for another node, or refuses it. Every ACL of zklock
 * lets its session read its own nodes (doc/api.md). So an unreadable node that
 * is known only by its name is another session's. If a server had named this
 * session as the owner, the ACL was changed later. Then no server reports
 * whether the node is still this session's. A holder's node is polled
 * instead. */
static void on_own_hidden(struct contender *c) {
  if (c->state != CONTENDER_QUEUED || contender_is_surely_ours(c)) return;
  if (c->node.known == NODE_MADE)
    acquire_fsm_refute(c);
  else
    acquire_fsm_deny_hidden(c);
}

void queued_on_own_news(struct contender *c, enum watch_news news,
                        const struct reply *reply) {
  if (news == WATCH_ARMED)
    on_own_read(c, reply);
  else if (news == WATCH_HIDDEN)
    on_own_hidden(c);
  else if (news == WATCH_STALE)
    watch_arm(&c->own); /* the node's data were written: read them */
  else if (c->state == CONTENDER_LEAVING)
    on_own_deleted(c, reply);
  else
    on_own_gone(c);
}

/* Handles the reply to a read of the predecessor or of the node before it. An
 * ACL may have refused the read. Logs a warning if no session owns the node. If
 * the predecessor is unreadable, makes `c` watch or list the directory's
 * children instead. */
static void on_blocker_read(struct contender *c, const struct watcher *watcher,
                            const struct reply *reply) {
  blocker_warn_unowned(watcher, reply);
  if (watcher == &c->predecessor) queue_position_predecessor_read(c);
}

/* Called when the data of a node ahead were written. Only a deletion can grant
 * the lock, so arms the watch again, and requests a list. */
static void watch_and_list(struct contender *c, struct watcher *watcher) {
  watch_arm(watcher);
  contender_list_again(c);
}

/* Records that a read did not find a node that a list had shown. Usually the
 * node was deleted in between. But if the next list shows the node again, the
 * server contradicts itself, and zklock delays its lists. */
static void store_missed(struct contender *c, const struct watcher *watcher) {
  uint32_t *missed =
      watcher == &c->predecessor ? &c->missed_predecessor : &c->missed_before;
  const char *name = watch_name(watcher);
  uint32_t hash = (uint32_t)hash_text(HASH_BEGIN, name, strlen(name));
  if (*missed == hash) directory_doubt(contender_directory(c));
  *missed = hash;
}

static void on_blocker_gone(struct contender *c, const struct watcher *watcher,
                            const struct reply *reply) {
  if (reply) store_missed(c, watcher);
  if (watcher == &c->predecessor)
    on_predecessor_gone(c);
  else
    on_before_gone(c);
}

void queued_on_news(struct watcher *watcher, enum watch_news news,
                    const struct reply *reply) {
  struct contender *c = watcher_owner(watcher);
  if (watcher == &c->own)
    queued_on_own_news(c, news, reply);
  else if (c->view.phase == VIEW_FOLLOWS && news == WATCH_GONE)
    fast_requeue_give_up(c);
  else if (c->state != CONTENDER_QUEUED)
    return;
  else if (news == WATCH_ARMED || news == WATCH_HIDDEN)
    on_blocker_read(c, watcher, reply);
  else if (news == WATCH_STALE)
    watch_and_list(c, watcher);
  else
    on_blocker_gone(c, watcher, reply);
}

/* The other functions of queued_wait_ops. */

/* Requests a list, unless the contender can watch the queue's last known node
 * instead (fast_requeue.h). One list serves all contenders of a batch of
 * calls. */
void queued_on_sent(struct contender *c) {
  if (!fast_requeue_begin(c))
    directory_list(contender_directory(c), c->node.serial);
}

/* If no reply has shown yet that this session owns the node, joins the watch of
 * the node. If another watcher reads the node, that read shows the owner. */
void queued_on_created(struct contender *c) {
  if (!contender_is_surely_ours(c))
    watch_want(&c->own, &contender_directory(c)->watches, c->node.name);
  if (!fast_requeue_created(c))
    directory_list(contender_directory(c), c->node.serial);
}

void queued_check(struct contender *c) {
  if (contender_sees(c)) {
    queue_position_proceed(c);
    return;
  }
  watch_writer(c);
  directory_list(contender_directory(c), 0);
}

void queued_check_again(struct contender *c) {
  c->view.listed_in = 0;
  directory_list_again(contender_directory(c));
}

const struct wait_ops queued_wait_ops = {.enter = queued_enter,
                                         .on_sent = queued_on_sent,
                                         .on_created = queued_on_created,
                                         .check = queued_check,
                                         .check_again = queued_check_again,
                                         .on_listed = queue_position_listed,
                                         .on_news = queued_on_news,
                                         .store_blocker = queued_store_blocker};
