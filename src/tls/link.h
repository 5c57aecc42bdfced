/* Implements the client's end of a TLS connection, with the functions that
 * io/tls.h declares. A link reads and writes buffers in memory, not a
 * socket. */
#ifndef ZKLOCK_TLS_LINK_H
#define ZKLOCK_TLS_LINK_H

#include <openssl/x509.h>

#include "io/tls.h"

#pragma GCC visibility push(hidden)

extern const struct tls_module link_module;

/* Returns the server's certificate, which the caller frees, or NULL. */
X509 *link_certificate_of(const struct tls_link *link);

#pragma GCC visibility pop

#endif
