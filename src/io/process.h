/* The id of this process, as getpid returns it but without a system call. Each
 * call that enters a session compares this id: a child of fork must not use its
 * parent's session. */
#ifndef ZKLOCK_PROCESS_H
#define ZKLOCK_PROCESS_H

#include <sys/types.h>

#pragma GCC visibility push(hidden)

/* Returns the id of this process. Any thread. In a child of vfork, which shares
 * its parent's memory, this can return the parent's id. Such a child is only
 * allowed to start a program. */
pid_t process_id(void);

#pragma GCC visibility pop

#endif
