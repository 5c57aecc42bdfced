/* Checks the name in the server's certificate, and describes what is wrong with
 * the certificate. */
#ifndef ZKLOCK_TLS_CERTIFICATE_H
#define ZKLOCK_TLS_CERTIFICATE_H

#include <openssl/x509.h>

#include "io/tls.h"

#pragma GCC visibility push(hidden)

/* Returns whether the name is an IP address. */
bool certificate_name_is_address(const char *name);
/* Returns whether the certificate is for one of `names`, which spaces
 * separate. */
bool certificate_is_for(X509 *certificate, const char *names);
/* Writes to `text` why the verification of the server's certificate has failed.
 * `names` are the names that were expected. */
void certificate_describe(X509_STORE_CTX *store, const char *names,
                          char text[TLS_TEXT]);
/* Writes to `text` that the certificate has expired or is not yet valid, or ""
 * if neither. `subject`: the words before "expired" or "is not yet valid" in
 * the message. */
void certificate_fault(const char *subject, const X509 *certificate, char *text,
                       size_t size);
/* Writes to `text` the names that the certificate is for. If it has none,
 * writes its subject. */
void certificate_names(X509 *certificate, char *text, size_t size);
void certificate_date(const ASN1_TIME *time, char text[11]);

#pragma GCC visibility pop

#endif
