/* Replaces the client library's zookeeper.h in builds for virtual time.
 * Declares the functions of client*.c with hidden visibility, so that no other
 * shared object sees them. Includes the system headers before the visibility
 * pragma, because the system's functions must stay visible. */
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
