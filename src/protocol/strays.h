/* Strays: nodes in a directory that may be ours, by their names, and that nobody
 * of us knows, as what a create has made whose answer was lost.  Those that are
 * ours are removed. */
#ifndef ZKLOCK_STRAYS_H
#define ZKLOCK_STRAYS_H

#include "wire.h"

#pragma GCC visibility push(hidden)

/* Whose directory it is. */
struct strays_owner {
  void *self;
  /* May this child be the node of one of ours, who knows of it? */
  bool (*claims)(void *self, const char *name);
  /* A list would show others. */
  void (*list_again)(void *self);
};

struct strays;

/* Of the directory at `path`, which stays the owner's memory; `flush`: at the end
 * of the batch, calls strays_send.  NULL: no memory. */
struct strays *strays_new(const struct strays_owner *owner, struct wire *wire,
                          struct chore *flush, const char *path, size_t length);
/* None are known. */
void strays_free(struct strays *s);
bool strays_are_known(const struct strays *s);

/* Are any taken just now? */
bool strays_take_more(struct strays *s);
/* If this child's owner is our session, it goes.  False: no memory. */
bool strays_remove(struct strays *s, const char *name);

void strays_send(struct strays *s);
/* Those that were others' may be asked about again. */
void strays_forget_foreign(struct strays *s);
/* The session is over: nothing is sent any more. */
void strays_closed(struct strays *s);

#pragma GCC visibility pop

#endif
