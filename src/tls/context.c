#include "context.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>

#include "file.h"

/* A function that reads certificates or a key from a file's text into the
 * context. Returns NULL, or what is wrong with the file. */
typedef const char *reader(struct tls_context *context, BIO *bio);

/* OpenSSL calls this if a file needs a passphrase. Records this in `*asked`,
 * and returns no passphrase, because zklock does not ask the user for one. */
static int no_passphrase(char *text, int size, int writing, void *asked) {
  (void)text;
  (void)size;
  (void)writing;
  *(bool *)asked = true;
  return -1;
}

/* Returns the next certificate in the file, or NULL if there is none or it
 * cannot be read. In the second case, sets `*broken` to true. */
static X509 *next_certificate(BIO *bio, bool *broken) {
  bool asked = false;
  X509 *certificate = PEM_read_bio_X509(bio, NULL, no_passphrase, &asked);
  unsigned long error = ERR_peek_last_error();
  *broken = !certificate && !(ERR_GET_LIB(error) == ERR_LIB_PEM &&
                              ERR_GET_REASON(error) == PEM_R_NO_START_LINE);
  return certificate;
}

#define NONE "it has no certificate in PEM format"
#define BROKEN "it has a certificate that cannot be read"

static const char *read_trusted(struct tls_context *c, BIO *bio) {
  X509_STORE *store = SSL_CTX_get_cert_store(c->ssl);
  X509 *certificate;
  bool broken, any = false, ok = true;
  while (ok && (certificate = next_certificate(bio, &broken))) {
    ok = X509_STORE_add_cert(store, certificate);
    any = true;
    X509_free(certificate);
  }
  if (!ok) return "not enough memory";
  return broken ? BROKEN : any ? NULL : NONE;
}

/* Returns a text with OpenSSL's reason why it refuses the certificate, such as
 * "ee key too small". */
static const char *unusable(struct tls_context *c) {
  const char *reason = ERR_reason_error_string(ERR_peek_last_error());
  snprintf(c->fault, sizeof c->fault, "its certificate cannot be used: %s",
           reason ? reason : "no reason is known");
  return c->fault;
}

/* Reads the client's own certificate, then the certificates of its authorities,
 * which follow in the same file. */
static const char *read_own(struct tls_context *c, BIO *bio) {
  bool broken, ok = true;
  X509 *certificate = next_certificate(bio, &broken);
  if (!certificate) return broken ? BROKEN : NONE;
  ok = SSL_CTX_use_certificate(c->ssl, certificate);
  X509_free(certificate);
  while (ok && (certificate = next_certificate(bio, &broken))) {
    ok = SSL_CTX_add1_chain_cert(c->ssl, certificate);
    X509_free(certificate);
  }
  c->has_certificate = true;
  if (!ok) return unusable(c);
  return broken ? BROKEN : NULL;
}

static const char *read_key(struct tls_context *c, BIO *bio) {
  bool asked = false;
  EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, &asked);
  if (!key)
    return asked ? "it has a passphrase, and zklock asks for none: write the "
                   "key without one, by 'openssl pkey'"
                 : "it has no private key in PEM format";
  bool fits = SSL_CTX_use_PrivateKey(c->ssl, key);
  EVP_PKEY_free(key);
  return fits && SSL_CTX_check_private_key(c->ssl)
             ? NULL
             : "it is not the key of the first certificate of tls.cert";
}

/* Reads the file `name`, the value of the option `option`, into the context. If
 * the file cannot be used, returns false and sets `error`. */
static bool apply(struct tls_context *context, const char *option,
                  const char *name, reader *read, char error[TLS_TEXT]) {
  struct file file;
  const char *fault = file_read(&file, name, read == read_key);
  BIO *bio = fault ? NULL : BIO_new_mem_buf(file.text, (int)file.size);
  if (!fault) fault = bio ? read(context, bio) : "not enough memory";
  BIO_free(bio);
  file_free(&file);
  if (fault)
    snprintf(error, TLS_TEXT, "cannot use tls.%s (%.100s): %s", option, name,
             fault);
  return !fault;
}

static bool configure(SSL_CTX *ssl) {
  SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER, NULL);
  SSL_CTX_set_options(ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET |
                               SSL_OP_NO_COMPRESSION |
                               SSL_OP_CLEANSE_PLAINTEXT);
  SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_OFF);
  /* Trusts each certificate of tls.ca, even if it is not self-signed. */
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(ssl),
                              X509_V_FLAG_PARTIAL_CHAIN);
  return SSL_CTX_set_min_proto_version(ssl, TLS1_2_VERSION);
}

static bool fill(struct tls_context *c, const struct tls_files *files,
                 char error[TLS_TEXT]) {
  if (!(c->ssl = SSL_CTX_new(TLS_client_method())) || !configure(c->ssl)) {
    snprintf(error, TLS_TEXT, "OpenSSL cannot be used: %s",
             ERR_reason_error_string(ERR_peek_last_error()));
    return false;
  }
  return apply(c, "ca", files->ca, read_trusted, error) &&
         (!files->cert || apply(c, "cert", files->cert, read_own, error)) &&
         (!files->key || apply(c, "key", files->key, read_key, error));
}

/* Reads the files into a new context. On failure, returns NULL and sets
 * `error`. Leaves the thread's queue of OpenSSL errors as it was. */
struct tls_context *context_read(const struct tls_files *files,
                                 char error[TLS_TEXT]) {
  struct tls_context *context = calloc(1, sizeof *context);
  snprintf(error, TLS_TEXT, "not enough memory");
  if (!context) return NULL;
  ERR_set_mark();
  bool ok = fill(context, files, error);
  ERR_pop_to_mark();
  if (ok) {
    error[0] = '\0';
    return context;
  }
  context_free(context);
  return NULL;
}

void context_free(struct tls_context *context) {
  SSL_CTX_free(context->ssl);
  free(context);
}
