/* Checks that the first bytes from a server are ZooKeeper's. A ZooKeeper server
 * answers a connect request with the length of a packet, 36 or 37, and then the
 * packet. The client library does not check that length, and would take a web
 * page for the reply of a server.
 *
 * The state is per thread: it belongs to the thread that created the socket. */
#ifndef ZKLOCK_HANDSHAKE_H
#define ZKLOCK_HANDSHAKE_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Starts the check for a new socket of the client library. */
void handshake_expect(int fd);
/* Checks the server's first bytes, without reading them. Must be called before
 * each read. Returns -1 if the server is not ZooKeeper, and 0 when the check is
 * done. Returns n > 0 if the check needs more bytes: the caller reads at most n
 * bytes, then calls handshake_peek again. */
int handshake_peek(int fd);
/* Checks bytes that were decrypted but not yet returned to the library. Returns
 * the same as handshake_peek. Called only while handshake_is_expected. */
int handshake_check(const char *data, size_t size);
bool handshake_is_expected(int fd);

/* Returns whether the server's first bytes can be TLS: an alert or a
 * handshake. */
bool handshake_is_tls(const char *data, size_t size);

/* Returns this thread's last description of a failure, for a message. The
 * functions above and below set it. */
const char *handshake_error(void);
void handshake_set_error(const char *text);
/* Sets the description of a failure: the server does not use TLS. `data`: its
 * first bytes. */
void handshake_set_plain_error(const char *data, size_t size);

#pragma GCC visibility pop

#endif
