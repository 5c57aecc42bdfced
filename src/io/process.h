/* The id of this process, as getpid returns it, but without a system call. Each
 * entry into a session checks it: a child of fork must not use its parent's
 * session. */
#ifndef ZKLOCK_PROCESS_H
#define ZKLOCK_PROCESS_H

#include <sys/types.h>

#pragma GCC visibility push(hidden)

/* Returns the id of this process; any thread. In a child of vfork, which shares
 * our memory, this may return the parent's id. Such a child may only start a
 * program. */
pid_t process_id(void);

#pragma GCC visibility pop

#endif
