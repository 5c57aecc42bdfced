/* The files of the option `tls`. They are read again for each connection, so
 * that certificates can be renewed while the session lives. */
#ifndef ZKLOCK_CERTIFICATES_H
#define ZKLOCK_CERTIFICATES_H

#include "settings.h"
#include "tls.h"

#pragma GCC visibility push(hidden)

struct certificates {
  const struct tls_settings *settings; /* without a module: no TLS */
  struct tls_context *context;         /* what was read last; NULL: nothing */
};

void certificates_init(struct certificates *certificates,
                       const struct tls_settings *settings);
void certificates_free(struct certificates *certificates);

/* Returns a link to a server of one of these names, from what the files have
 * now. Returns NULL if that fails. If the files cannot be used any more, uses
 * what was read last. `problem`: what is wrong with the files, or "". */
struct tls_link *certificates_link(struct certificates *certificates,
                                   const char *names, char problem[TLS_TEXT]);

#pragma GCC visibility pop

#endif
