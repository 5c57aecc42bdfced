/* The quota: how many bytes of paths a session's nodes may have at ZooKeeper.
 *
 * When a session ends, one transaction lists the paths of all its nodes.
 * ZooKeeper accepts no transaction of more than 1 MiB. A server that has logged
 * a longer one could never start again. So each node uses a part of the quota.
 * When the quota is used up, contenders wait without a node, in order of
 * arrival on their path.
 *
 * Watches use no quota: a client sends them in one packet only if its handle
 * reconnects, and zklock's handles never do.
 *
 * Pure arithmetic. */
#ifndef ZKLOCK_QUOTA_H
#define ZKLOCK_QUOTA_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Limits how many bytes of paths the nodes of one session have. An ordinary
 * contender may enter until the first of two limits is reached; an urgent one,
 * until the second. A contender is urgent if it is the session's first on its
 * path. It is also urgent if it must not wait for the session's contenders
 * ahead of it. Making an urgent contender wait could cause a deadlock: the
 * contenders for which it waits might be waiting for it. */
struct quota {
  size_t taken;
  bool freed; /* quota was returned since the last quota_was_freed */
};

enum quota_answer {
  QUOTA_YES,
  QUOTA_LATER, /* quota gets free when other contenders leave */
  QUOTA_NEVER, /* quota gets free only if the user releases a lock */
};

/* Returns how many bytes of the quota one node uses. `directory` is the length
 * of the path of its directory. */
size_t quota_of_node(size_t directory);

/* Returns whether the quota has room for `bytes` more, now or later. `urgent`
 * chooses the limit. `leaving`: some nodes of this session are being
 * deleted. */
enum quota_answer quota_ask(const struct quota *quota, size_t bytes,
                            bool urgent, bool leaving);

void quota_take(struct quota *quota, size_t bytes);
void quota_give(struct quota *quota, size_t bytes);
/* Makes quota_was_freed return true, so that another contender is woken. Called
 * when the woken contender did not need the quota. */
void quota_pass_on(struct quota *quota);
/* Returns true if quota was freed since the last call. Then a contender that
 * waits for quota can enter. */
bool quota_was_freed(struct quota *quota);

#pragma GCC visibility pop

#endif
