/* The open sessions of this process.  A process that ends has them end first, be it by exit or by a
 * signal.
 *
 * The list is guarded by the process's one lock (fork.h), which every fork
 * takes; in the child it is empty, for what was in it is the parent's. */
#ifndef ZKLOCK_REGISTRY_H
#define ZKLOCK_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* (c) constant while registered  (r) guarded by the process's lock
 * (a) atomic */
struct registered {
  void *self; /* (c) */
  /* (c) Asks it to close, as its user would.  Any thread; with the lock. */
  void (*close)(void *self);
  /* (c) Asks it to end without the Lua thread, which has stopped somewhere:
   * without malloc, and without any lock that that thread takes. */
  void (*end)(void *self);
  _Atomic bool ended;                 /* (a) it has no ZooKeeper session */
  struct registered *next, *previous; /* (r) */
};

void registry_add(struct registered *entry);
void registry_remove(struct registered *entry);
/* Ends every session, and waits so long (in nanoseconds) until all have. */
void registry_end_all(int64_t patience);

#pragma GCC visibility pop

#endif
