/* Which process is this?  What getpid tells, without a system call: every entry
 * into a session asks, for a child of a fork must not use its parent's. */
#ifndef ZKLOCK_PROCESS_H
#define ZKLOCK_PROCESS_H

#include <sys/types.h>

#pragma GCC visibility push(hidden)

/* Any thread.  (A child that shares our memory, of vfork, is not told apart
 * where it is read from memory: it may do nothing but start a program.) */
pid_t process_id(void);

#pragma GCC visibility pop

#endif
