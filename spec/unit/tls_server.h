/* The other end of a TLS link, in memory, and certificates for both ends. */
#ifndef UNIT_TLS_SERVER_H
#define UNIT_TLS_SERVER_H

#include <openssl/ssl.h>

#include "io/tls.h"

struct authority {
  X509 *certificate;
  EVP_PKEY *key;
};

/* What a certificate has. The times are in days from now; both 0: from
 * yesterday for a year. */
struct issue {
  const char *name, *names; /* `names`: such as DNS:a,IP:127.0.0.1, or NULL */
  int from, until;
  int rsa_bits; /* 0: an EC key */
};

struct tls_server {
  SSL_CTX *context;
  SSL *ssl;
  BIO *in, *out;
};

/* What the tests share: an authority, and files of its own in a directory. */
extern struct authority ours, others;
extern struct tls_files files, with_certificate;
void tls_begin(void);
struct authority tls_authority(const struct issue *issue);
void tls_authority_free(struct authority *authority);
/* Writes a file there, and returns its name. */
const char *tls_file(const char *name, const char *text, int mode);
/* Writes a certificate and its key as `NAME.crt` and `NAME.key`. */
void tls_certify(const struct authority *by, const struct issue *issue,
                 const char *file);
const char *tls_path(const char *name);

/* A server with a certificate; `wants`: it wants one of the client. */
struct tls_server tls_server_of(const struct authority *by,
                                const struct issue *issue, bool wants);
void tls_server_free(struct tls_server *server);

/* Carries bytes between both ends until the client's handshake is over. */
enum tls_state tls_shake(struct tls_link *link, struct tls_server *server);
/* Carries what the server, or the link, has to send. */
void tls_to_link(struct tls_link *link, struct tls_server *server);
void tls_to_server(struct tls_link *link, struct tls_server *server);

#endif
