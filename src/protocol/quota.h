/* The quota: how much a session may have at ZooKeeper, in bytes of paths.
 *
 * When a session ends, one transaction lists the paths of all its nodes, and
 * ZooKeeper takes none of more than 1 MiB: a server that has logged a longer one
 * could never start again.  So each node takes its part.  When nothing is left,
 * contenders wait without a node, in the order of arrival of their path.
 *
 * (Watches take none: a client sends the watches of a handle that reconnects in one
 * packet, and no handle of ours does.)
 *
 * Arithmetic only. */
#ifndef ZKLOCK_QUOTA_H
#define ZKLOCK_QUOTA_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Up to the first limit anybody enters.  Up to the second those who are
 * urgent: the first of ours on a path, and who need not wait for those of ours
 * before it.  If they waited for others of this session to leave, these might
 * wait for them. */
#ifndef QUOTA_LIMITS
#define QUOTA_LIMITS 800000, 1000000
#endif

struct quota {
  size_t taken;
  bool freed; /* something was given back since quota_was_freed */
};

enum quota_answer {
  QUOTA_YES,
  QUOTA_LATER, /* when others leave */
  QUOTA_NEVER, /* unless others leave whom the user has to release */
};

/* What a node in a directory whose path is so long takes. */
size_t quota_of_node(size_t directory);

/* For so much more?  `leaving`: some of ours are on their way out. */
enum quota_answer quota_ask(const struct quota *quota, size_t bytes,
                            bool urgent, bool leaving);

void quota_take(struct quota *quota, size_t bytes);
void quota_give(struct quota *quota, size_t bytes);
/* Whoever could have had something did not want it. */
void quota_pass_on(struct quota *quota);
/* Somebody may fit who did not: has anything been given back since this was
 * asked last? */
bool quota_was_freed(struct quota *quota);

#pragma GCC visibility pop

#endif
