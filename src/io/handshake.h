/* The first bytes that a server sends.  A ZooKeeper server answers a connect request
 * by a packet of 36 or 37 bytes, with its length in front.  The client library does not
 * check that length: it takes the page of a web server for a session.
 *
 * The state belongs to the thread that has made the socket: the library's, or ours. */
#ifndef ZKLOCK_HANDSHAKE_H
#define ZKLOCK_HANDSHAKE_H

#pragma GCC visibility push(hidden)

/* A socket that was just made: the library will read from it. */
void handshake_expect(int fd);
/* Before a read.  -1: what has come is no ZooKeeper server's answer.  More than 0:
 * it may be one; read no more bytes than this, and look again.  0: read on. */
int handshake_look(int fd);
/* Describes what has come, for a message. */
const char *handshake_words(void);

#pragma GCC visibility pop

#endif
