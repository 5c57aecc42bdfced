/* The open sessions of this process. They are closed when the process exits or
 * a signal ends it.
 *
 * The list is guarded by the process's one lock (fork.h), which every fork
 * takes. In the child it is empty, because its sessions belong to the
 * parent. */
#ifndef ZKLOCK_REGISTRY_H
#define ZKLOCK_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* (c) constant while registered, (r) guarded by the process's lock, (a)
 * atomic */
struct registered {
  void *self; /* (c) */
  /* (c) Asks the session to close, as its user would. Any thread; with the
   * lock. */
  void (*close)(void *self);
  /* (c) Asks the session to end without the Lua thread, which was stopped at an
   * arbitrary point. It must not use malloc, or a lock that the Lua thread
   * takes. */
  void (*end)(void *self);
  _Atomic bool ended;                 /* (a) it has no ZooKeeper session */
  struct registered *next, *previous; /* (r) */
};

void registry_add(struct registered *entry);
void registry_remove(struct registered *entry);
/* Ends all sessions, and waits for them for at most `patience` nanoseconds. */
void registry_end_all(int64_t patience);

/* Lets the sessions end before the exit handlers run that other libraries have
 * registered until now, such as OpenSSL's: I/O threads may still use them. */
void registry_exit_first(void);

#pragma GCC visibility pop

#endif
