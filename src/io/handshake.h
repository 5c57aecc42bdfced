/* Checks the first bytes that a server sends. A ZooKeeper server answers a
 * connect request with a packet of 36 or 37 bytes, after its length. The client
 * library does not check that length, and would take a web page for a session.
 *
 * The state is per thread: it belongs to the thread that created the socket. */
#ifndef ZKLOCK_HANDSHAKE_H
#define ZKLOCK_HANDSHAKE_H

#pragma GCC visibility push(hidden)

/* Starts the check for a new socket that the library will read from. */
void handshake_expect(int fd);
/* Must be called before each read. Returns -1 if the bytes are not from a
 * ZooKeeper server. Returns n > 0 if they may be: read at most n bytes, then
 * call again. Returns 0 when the check is done. */
int handshake_look(int fd);
/* Returns a description of the bytes, for a message. */
const char *handshake_words(void);

#pragma GCC visibility pop

#endif
