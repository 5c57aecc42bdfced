/* In place of the client library's own in a build for virtual time: its functions
 * are those of client*.c, which nothing outside of this module may see.  (What it
 * includes of the system's is included before that.) */
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
