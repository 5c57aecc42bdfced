/* An inspection: what is at a path, and what is below it.  How many children
 * there are is asked before they are listed, as a survey does. */
#ifndef ZKLOCK_INSPECTION_H
#define ZKLOCK_INSPECTION_H

#include "query.h"

#pragma GCC visibility push(hidden)

/* Each asks about one path.  NULL: no memory. */
struct query *inspection_of_node(const char *chroot, const char *path,
                                 bool with_data);
struct query *inspection_of_children(const char *chroot, const char *path);

#pragma GCC visibility pop

#endif
