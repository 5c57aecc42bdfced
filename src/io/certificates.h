/* The certificates and the key in the files of the option `tls`. zklock reads
 * the files again for each connection, so that you can renew certificates while
 * the session lives. */
#ifndef ZKLOCK_CERTIFICATES_H
#define ZKLOCK_CERTIFICATES_H

#include "settings.h"
#include "tls.h"

#pragma GCC visibility push(hidden)

struct certificates {
  const struct tls_settings *settings; /* `module` is NULL: no TLS */
  struct tls_context *context; /* the contents of the files; NULL: not read */
};

void certificates_init(struct certificates *certificates,
                       const struct tls_settings *settings);
void certificates_free(struct certificates *certificates);

/* Reads the files, and returns a TLS link to a server that has one of these
 * names. If the files cannot be used any more, uses the contents from the last
 * successful read. Returns NULL on failure. Sets `problem` to what is wrong, or
 * to "". */
struct tls_link *certificates_link(struct certificates *certificates,
                                   const char *names, char problem[TLS_TEXT]);

#pragma GCC visibility pop

#endif
