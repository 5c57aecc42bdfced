/* TLS between a stream (stream.h) and its socket: encrypts what the stream
 * sends, and decrypts what the server sends. tls.h has the functions that do
 * it.
 *
 * Failures are errno values, as of send and recv. EPROTO stands for a failure
 * of TLS, and handshake_error() describes it. */
#ifndef ZKLOCK_SECURE_H
#define ZKLOCK_SECURE_H

#include <sys/types.h>

#include "tls.h"

#pragma GCC visibility push(hidden)

struct secure {
  const struct tls_module *module; /* NULL: no TLS */
  struct tls_link *link;
  bool is_begun;       /* the handshake has begun: the socket is connected */
  bool is_established; /* the handshake is done */
  bool has_received;   /* the server has sent a byte */
  bool is_drained;     /* no bytes to decrypt before the next poll */
  bool is_over;        /* the server has closed the connection */
  int problem;         /* errno of the failure; 0: no failure */
};

/* Prepares TLS for a new socket. Takes ownership of the link. */
void secure_begin(struct secure *secure, const struct tls_module *module,
                  struct tls_link *link);
void secure_end(struct secure *secure);

/* Continues the handshake. After TLS_WAITS, call it again when the socket is
 * readable, or writable if secure_wants_write. After TLS_FAILED,
 * handshake_error() describes the failure. */
enum tls_state secure_handshake(struct secure *secure, int fd);
/* Returns whether one side has refused the other's certificate. */
bool secure_is_refused(const struct secure *secure);

/* Work like send and recv on a non-blocking socket, for the unencrypted
 * data. */
ssize_t secure_send(struct secure *secure, int fd, const void *data,
                    size_t size);
ssize_t secure_recv(struct secure *secure, int fd, void *data, size_t size);
/* Sends encrypted bytes that are still unsent, as many as is possible now.
 * Returns false and sets errno on failure. */
bool secure_flush(struct secure *secure, int fd);
/* Returns whether encrypted bytes, or the start of the handshake, must wait
 * until the socket is writable. */
bool secure_wants_write(const struct secure *secure);
/* Sends a closure alert: no more data will follow. */
void secure_send_closure(struct secure *secure, int fd);

#pragma GCC visibility pop

#endif
