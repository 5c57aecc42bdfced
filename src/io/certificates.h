/* Keeps the certificates and the key that the option `tls` names as files.
 * zklock reads the files again for each connection. So you can renew
 * certificates while the session lives. */
#ifndef ZKLOCK_CERTIFICATES_H
#define ZKLOCK_CERTIFICATES_H

#include "settings.h"
#include "tls.h"

#pragma GCC visibility push(hidden)

struct certificates {
  const struct tls_settings *settings; /* `module` is NULL: no TLS */
  struct tls_context *context;         /* the contents of the files, or NULL */
};

void certificates_init(struct certificates *certificates,
                       const struct tls_settings *settings);
void certificates_free(struct certificates *certificates);

/* Reads the files again, and returns a TLS link for a connection to a server.
 * The server's certificate must be for one of `names`, or for the option's
 * `name` if that is set. If a file cannot be used now, uses the contents of the
 * last successful read. Returns NULL if there was none, or if there is no
 * memory. Sets `problem` to what is wrong, or to "". */
struct tls_link *certificates_link(struct certificates *certificates,
                                   const char *names, char problem[TLS_TEXT]);

#pragma GCC visibility pop

#endif
