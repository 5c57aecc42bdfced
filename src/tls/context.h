/* Keeps the trusted certificates, and the client's own certificate and key, as
 * read from files. */
#ifndef ZKLOCK_TLS_CONTEXT_H
#define ZKLOCK_TLS_CONTEXT_H

#include <openssl/ssl.h>

#include "io/tls.h"

#pragma GCC visibility push(hidden)

struct tls_context {
  SSL_CTX *ssl;
  bool has_certificate; /* the client has a certificate of its own */
  char fault[120];      /* what is wrong with a file */
};

struct tls_context *context_read(const struct tls_files *files,
                                 char error[TLS_TEXT]);
void context_free(struct tls_context *context);

#pragma GCC visibility pop

#endif
