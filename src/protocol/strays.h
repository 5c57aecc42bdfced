/* Strays: orphaned nodes in a directory.  Their names say that they may be this
 * session's, but no contender knows them; a create whose reply was lost leaves
 * such a node.  Those that this session owns are deleted. */
#ifndef ZKLOCK_STRAYS_H
#define ZKLOCK_STRAYS_H

#include "wire.h"

#pragma GCC visibility push(hidden)

/* The module that uses the directory. */
struct strays_owner {
  void *self;
  /* Returns whether the child may be the node of a known contender. */
  bool (*claims)(void *self, const char *name);
  /* Asks for another list, because it would show more strays. */
  void (*list_again)(void *self);
};

struct strays;

/* Returns the strays of the directory at `path`, which stays the owner's
 * memory.  `flush` runs at the end of the batch and calls strays_send.  NULL:
 * no memory. */
struct strays *strays_new(const struct strays_owner *owner, struct wire *wire,
                          struct chore *flush, const char *path, size_t length);
/* Frees `s`; then strays_are_known returns false. */
void strays_free(struct strays *s);
bool strays_are_known(const struct strays *s);

/* Returns whether more strays are accepted just now. */
bool strays_take_more(struct strays *s);
/* Deletes the child if this session owns it.  False: no memory. */
bool strays_remove(struct strays *s, const char *name);

void strays_send(struct strays *s);
/* Allows another check of nodes that had other owners. */
void strays_forget_foreign(struct strays *s);
/* The session is closed: sends no more requests. */
void strays_closed(struct strays *s);

#pragma GCC visibility pop

#endif
