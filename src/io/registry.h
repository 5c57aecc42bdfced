/* The list of this process's open sessions. zklock closes them when the process
 * exits, or when a signal ends the process.
 *
 * One lock of the process guards the list (fork_lock). Every fork takes this
 * lock. In the child the list is empty, because the sessions belong to the
 * parent. */
#ifndef ZKLOCK_REGISTRY_H
#define ZKLOCK_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* An entry of the list. Access: (c) constant while registered, (r) guarded by
 * fork_lock, (a) atomic */
struct registered {
  void *self; /* (c) the session */
  /* (c) Makes the session begin to close, as if its user closed it. Any thread
   * that holds fork_lock can call this. */
  void (*close)(void *self);
  /* (c) Makes the session end without the Lua thread, which a signal has
   * stopped at an arbitrary point. That thread can hold any lock. So this
   * function must not use malloc, or any lock that the Lua thread takes. */
  void (*end)(void *self);
  _Atomic bool ended;                 /* (a) the ZooKeeper session has ended */
  struct registered *next, *previous; /* (r) */
};

void registry_add(struct registered *entry);
void registry_remove(struct registered *entry);
/* Makes all sessions end, and waits until they have ended. The wait takes at
 * most `patience` nanoseconds. */
void registry_end_all(int64_t patience);

/* Registers zklock's exit handler, unless it is registered already. Exit
 * handlers run in reverse order of registration. So zklock's handler runs
 * before those that are registered already, such as OpenSSL's. This order is
 * needed because the I/O threads use OpenSSL until the sessions have ended. */
void registry_exit_first(void);

#pragma GCC visibility pop

#endif
