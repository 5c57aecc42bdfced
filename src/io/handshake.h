/* Checks that the first bytes from a server are ZooKeeper's. A ZooKeeper server
 * answers a connect request with a packet of 36 or 37 bytes. Before the packet,
 * it sends this length in 4 bytes. The client library does not check that
 * length. So it would even take a web page for a ZooKeeper server's reply.
 *
 * Each thread has its own state, for the socket that the thread created
 * last. */
#ifndef ZKLOCK_HANDSHAKE_H
#define ZKLOCK_HANDSHAKE_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Starts the check for `fd`, a new socket of the client library. */
void handshake_expect(int fd);
/* Checks the server's first bytes, and leaves them in the socket. Must be
 * called before each read of the socket. Returns -1 if the server is not
 * ZooKeeper, and 0 when the check is done. A result n > 0 means that the check
 * needs more bytes. Then the caller reads at most n bytes, and calls
 * handshake_peek again. */
int handshake_peek(int fd);
/* Works like handshake_peek, for bytes that are not in the socket: decrypted or
 * buffered bytes that the library has not received yet. Must be called only
 * while handshake_is_expected returns true. */
int handshake_check(const char *data, size_t size);
bool handshake_is_expected(int fd);

/* Returns whether the server's first bytes can be the beginning of a TLS alert
 * or a TLS handshake. */
bool handshake_is_tls(const char *data, size_t size);

/* Returns this thread's last description of a failure, for error messages. The
 * checks above and the two functions below set it. */
const char *handshake_error(void);
void handshake_set_error(const char *text);
/* Sets the description of a failure: the server does not use TLS. `data`
 * contains the first bytes that the server has sent. */
void handshake_set_plain_error(const char *data, size_t size);

#pragma GCC visibility pop

#endif
