/* The list of this process's open sessions. They are closed when the process
 * exits, or when a signal ends it.
 *
 * The list is guarded by the process's one lock (fork.h), which every fork
 * takes. In the child the list is empty, because its sessions belong to the
 * parent. */
#ifndef ZKLOCK_REGISTRY_H
#define ZKLOCK_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* An entry of the list. (c) constant while registered, (r) guarded by the
 * process's lock, (a) atomic */
struct registered {
  void *self; /* (c) the session */
  /* (c) Makes the session begin to close, as its user would. Called by any
   * thread, with the process's lock. */
  void (*close)(void *self);
  /* (c) Makes the session end without the Lua thread, which a signal has
   * stopped at an arbitrary point. So this function must not use malloc, or a
   * lock that the Lua thread takes. */
  void (*end)(void *self);
  _Atomic bool ended;                 /* (a) the ZooKeeper session has ended */
  struct registered *next, *previous; /* (r) */
};

void registry_add(struct registered *entry);
void registry_remove(struct registered *entry);
/* Ends all sessions, and waits until they have ended, for at most `patience`
 * nanoseconds. */
void registry_end_all(int64_t patience);

/* Registers zklock's exit handler, unless it is registered already. The handler
 * runs before the handlers that other libraries have registered until now, such
 * as OpenSSL's. The sessions must end first, because I/O threads still use
 * those libraries. */
void registry_exit_first(void);

#pragma GCC visibility pop

#endif
