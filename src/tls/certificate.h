/* Checks the name in the server's certificate, and describes what is wrong with
 * the certificate. */
#ifndef ZKLOCK_TLS_CERTIFICATE_H
#define ZKLOCK_TLS_CERTIFICATE_H

#include <openssl/x509.h>

#include "io/tls.h"

#pragma GCC visibility push(hidden)

/* Returns whether the name is an IP address. */
bool certificate_name_is_address(const char *name);
/* Returns whether the certificate is for one of these names, which are
 * separated by spaces. */
bool certificate_is_for(X509 *certificate, const char *names);
/* Writes to `text` why the verification has failed. */
void certificate_describe(X509_STORE_CTX *store, const char *names,
                          char text[TLS_TEXT]);
/* Writes that the certificate, which `subject` names, has expired or is not yet
 * valid; otherwise "". */
void certificate_fault(const char *subject, const X509 *certificate, char *text,
                       size_t size);
/* Writes the names that the certificate is for; without names, its subject. */
void certificate_names(X509 *certificate, char *text, size_t size);
void certificate_date(const ASN1_TIME *time, char text[11]);

#pragma GCC visibility pop

#endif
