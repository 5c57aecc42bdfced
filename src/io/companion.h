/* The node beside an unfair lock's (protocol/unfair.h): for queries about `holder`,
 * whose name is that of the next holder's node, too. */
#ifndef ZKLOCK_COMPANION_H
#define ZKLOCK_COMPANION_H

#include "query.h"

#pragma GCC visibility push(hidden)

/* Two phases, the first of a query whose items are nodes below its path.  Where one
 * of those is NAME_UNFAIR they add the nodes beside it to the items. */
#define COMPANION_PHASES                                     \
  {companion_count_list, query_cost_none, companion_list}, { \
    companion_count_looks, companion_cost, companion_look    \
  }

int companion_count_list(const struct query *query);
void companion_list(struct query *query, int i);
int companion_count_looks(const struct query *query);
int companion_cost(const struct query *query, int i);
void companion_look(struct query *query, int i);

/* The items that the query was made with. */
int companion_count_rest(const struct query *query);
/* The path of the node that was made with this one; NULL: there is none, because it
 * is no unfair lock's, or an older zklock has made it. */
const char *companion_of(const struct query *query, const struct item *item);

#pragma GCC visibility pop

#endif
