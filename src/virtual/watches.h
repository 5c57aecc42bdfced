/* The watches that clients have set at one server. A watch fires at most once,
 * and is then removed. */
#ifndef ZKLOCK_VIRTUAL_WATCHES_H
#define ZKLOCK_VIRTUAL_WATCHES_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct zk_connection;

struct watch_entry {
  char *path;
  bool child;     /* true: a watch of the children, not of the node */
  uint64_t order; /* the connection's number */
  struct zk_connection *connection;
};

struct watches {
  struct watch_entry *list; /* sorted by path, kind and order */
  int count, room;
};

void watches_add(struct watches *watches, const char *path, bool child,
                 uint64_t order, struct zk_connection *connection);
bool watches_remove(struct watches *watches, const char *path, bool child,
                    uint64_t order);
/* Removes the watches of the connection with the number `order`. */
void watches_forget(struct watches *watches, uint64_t order);
void watches_clear(struct watches *watches);
/* Removes the watches of this path and kind, and returns them as an array,
 * which the caller frees. `*count`: the length of the array. */
struct watch_entry *watches_take(struct watches *watches, const char *path,
                                 bool child, int *count);
int watches_count(const struct watches *watches, const char *prefix);

#pragma GCC visibility pop

#endif
