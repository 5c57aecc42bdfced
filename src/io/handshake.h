/* The first bytes that a server sends.  A ZooKeeper server answers a connect request
 * by a packet of 36 or 37 bytes, with its length in front.  The client library does not
 * check that length: it takes the page of a web server for a session.
 *
 * The state belongs to the thread that has made the socket: the library's, or ours. */
#ifndef ZKLOCK_HANDSHAKE_H
#define ZKLOCK_HANDSHAKE_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* A socket that was just made: the library will read from it. */
void handshake_expect(int fd);
/* Before a read.  True: what has come is no ZooKeeper server's answer. */
bool handshake_fails(int fd);
/* Describes what has come, for a message. */
const char *handshake_words(void);

#pragma GCC visibility pop

#endif
