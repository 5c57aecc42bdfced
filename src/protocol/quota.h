/* The quota: how much a session may have at ZooKeeper, in bytes of paths.
 *
 * All watches of a session travel in one packet when it reconnects, and the
 * paths of all its nodes in one transaction when it ends; ZooKeeper takes none
 * of more than 1 MiB.  A session that has outgrown the one could never
 * reconnect, and a server that has logged the other could never start again.
 *
 * So each node takes its part, which is for its watch, too, and so does each
 * watch of anything else.  Who looks for its place may come to watch two nodes
 * of others: that much is promised to it until its place is known; afterwards
 * its watches only become fewer.  Where nothing is left contenders wait without
 * a node, in the order of arrival of their path.
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
  size_t taken, promised;
  bool freed; /* something was given back since quota_was_freed */
};

enum quota_answer {
  QUOTA_YES,
  QUOTA_LATER, /* when others leave, or have found their place */
  QUOTA_NEVER, /* unless others leave whom the user has to release */
};

/* What a watch of this path takes; what a node in a directory whose path is so
 * long does; and a watch of another client's there. */
size_t quota_of_path(size_t length);
size_t quota_of_node(size_t directory);
size_t quota_of_neighbour(size_t directory);

/* For one more contender in such a directory?  `leaving`: some of ours are on
 * their way out. */
enum quota_answer quota_ask(const struct quota *quota, size_t directory,
                            bool urgent, bool leaving);

void quota_take(struct quota *quota, size_t bytes);
void quota_give(struct quota *quota, size_t bytes);
void quota_promise(struct quota *quota, size_t bytes);
void quota_keep(struct quota *quota, size_t bytes); /* a promise */
/* Whoever could have had something did not want it. */
void quota_pass_on(struct quota *quota);
/* Somebody may fit who did not: has anything been given back since this was
 * asked last? */
bool quota_was_freed(struct quota *quota);

#pragma GCC visibility pop

#endif
