/* Returns the id of this process without a system call. A child of fork must
 * not use its parent's session. So each call that enters a session compares
 * this id with the session's owner. */
#ifndef ZKLOCK_PROCESS_H
#define ZKLOCK_PROCESS_H

#include <sys/types.h>

#pragma GCC visibility push(hidden)

/* Returns the id of this process. Any thread is allowed to call this. A child
 * of vfork shares its parent's memory, so in it this can return the parent's
 * id. Such a child is only allowed to start a program. */
pid_t process_id(void);

#pragma GCC visibility pop

#endif
