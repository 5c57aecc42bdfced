/* Puts TLS between a stream (stream.h) and its socket. Encrypts what the stream
 * sends, and decrypts what the server sends, with the functions of tls.h.
 *
 * A failure is an errno value, as for send and recv. EPROTO means a failure of
 * TLS. Then handshake_error() returns the description. */
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
  bool is_drained;     /* nothing to decrypt until the next poll */
  bool is_over;        /* the server has closed the connection */
  int problem;         /* errno of the failure; 0: no failure */
};

/* Prepares TLS for a new socket. Takes ownership of `link`. */
void secure_begin(struct secure *secure, const struct tls_module *module,
                  struct tls_link *link);
void secure_end(struct secure *secure);

/* Continues the handshake. After TLS_WAITS, the caller must call this again
 * when the socket is readable, or writable if secure_wants_write returns true.
 * After TLS_FAILED, handshake_error() returns the description of the
 * failure. */
enum tls_state secure_handshake(struct secure *secure, int fd);
/* Returns whether TLS failed because one side has refused the other's
 * certificate. */
bool secure_is_refused(const struct secure *secure);

/* Work like send and recv on a non-blocking socket. `data` is the unencrypted
 * data. */
ssize_t secure_send(struct secure *secure, int fd, const void *data,
                    size_t size);
ssize_t secure_recv(struct secure *secure, int fd, void *data, size_t size);
/* Sends the encrypted bytes that are not sent yet, as far as this is possible
 * now. Returns false and sets errno on failure. */
bool secure_flush(struct secure *secure, int fd);
/* Returns whether the caller must poll until the socket is writable: encrypted
 * bytes are unsent, or the handshake has not begun. */
bool secure_wants_write(const struct secure *secure);
/* Sends a closure alert, which tells the server that no more data will
 * follow. */
void secure_send_closure(struct secure *secure, int fd);

#pragma GCC visibility pop

#endif
