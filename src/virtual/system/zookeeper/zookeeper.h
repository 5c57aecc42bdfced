/* Replaces the client library's header in a build for virtual time. The
 * functions that it declares are those of client*.c, which stay hidden from
 * other modules. The system headers that it needs are included first, because
 * their functions must not be hidden. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)
#include_next <zookeeper/zookeeper.h>
#pragma GCC visibility pop
