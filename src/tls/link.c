#include "link.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certificate.h"
#include "context.h"

struct tls_link {
  SSL *ssl;
  BIO *in, *out; /* encrypted bytes; `ssl` owns both */
  bool has_certificate;
  bool is_asked;       /* the server asks for a certificate */
  bool is_refused;     /* the failure is about a certificate */
  char text[TLS_TEXT]; /* why the link has failed; "" if it has not */
  char names[];
};

/* Verification. */

static struct tls_link *link_of(SSL *ssl) { return SSL_get_app_data(ssl); }

/* Verifies the chain of certificates, then the server's name. Returns whether
 * both are valid. A certificate must be for one of several names, some of which
 * can be addresses. OpenSSL's own check of names does not support this, so it
 * is not used. */
static int verify(X509_STORE_CTX *store, void *unused) {
  SSL *ssl =
      X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
  struct tls_link *link = link_of(ssl);
  bool ok = X509_verify_cert(store) == 1;
  (void)unused;
  if (ok && !certificate_is_for(X509_STORE_CTX_get0_cert(store), link->names)) {
    X509_STORE_CTX_set_error(store, X509_V_ERR_HOSTNAME_MISMATCH);
    ok = false;
  }
  if (!ok) certificate_describe(store, link->names, link->text);
  link->is_refused = !ok;
  return ok;
}

static int on_request(SSL *ssl, void *unused) {
  (void)unused;
  link_of(ssl)->is_asked = true;
  return 1;
}

/* Failures. */

/* Returns whether the TLS alert `alert` can be about the client's certificate:
 * the server refuses it, or the client has sent none. */
static bool is_about_us(int alert) {
  switch (alert) {
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_REVOKED:
    case SSL_AD_CERTIFICATE_EXPIRED:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_UNKNOWN_CA:
    case SSL_AD_ACCESS_DENIED:
    case SSL_AD_DECRYPT_ERROR:
    case TLS13_AD_CERTIFICATE_REQUIRED:
      return true;
    default:
      return false;
  }
}

static void describe_alert(struct tls_link *link, int alert) {
  const char *words = SSL_alert_desc_string_long(alert);
  bool is_handshake = alert == SSL_AD_HANDSHAKE_FAILURE;
  char fault[80];
  if (alert == TLS13_AD_CERTIFICATE_REQUIRED) words = "certificate required";
  link->is_refused = is_about_us(alert) ||
                     (is_handshake && link->is_asked && !link->has_certificate);
  if (link->is_refused && !link->has_certificate)
    snprintf(link->text, TLS_TEXT,
             "the server wants a client certificate: set tls.cert and tls.key "
             "(alert: %s)",
             words);
  else if (link->is_refused) {
    /* Adds whether the client's certificate has expired, because the alerts of
     * Java's servers do not say this. */
    certificate_fault(", which", SSL_get_certificate(link->ssl), fault,
                      sizeof fault);
    snprintf(link->text, TLS_TEXT,
             "the server refuses the certificate of tls.cert%s (alert: %s)",
             fault, words);
  } else
    snprintf(link->text, TLS_TEXT, "the server ends TLS (alert: %s)", words);
}

/* Records why the link has failed. Keeps a reason that was recorded before,
 * because OpenSSL's first error is the cause of the later ones. */
static enum tls_state fail(struct tls_link *link) {
  unsigned long error = ERR_peek_error();
  int reason = ERR_GET_REASON(error);
  if (link->text[0]) return TLS_FAILED;
  if (ERR_GET_LIB(error) == ERR_LIB_SSL && reason >= SSL_AD_REASON_OFFSET)
    describe_alert(link, reason - SSL_AD_REASON_OFFSET);
  else
    snprintf(link->text, TLS_TEXT, "TLS fails: %s",
             error ? ERR_reason_error_string(error) : "no reason is known");
  return TLS_FAILED;
}

static enum tls_state state_of(struct tls_link *link, int rc) {
  switch (SSL_get_error(link->ssl, rc)) {
    case SSL_ERROR_NONE:
      return TLS_DONE;
    case SSL_ERROR_WANT_READ:
      return TLS_WAITS;
    case SSL_ERROR_ZERO_RETURN:
      return TLS_ENDED;
    default:
      return fail(link);
  }
}

/* Calls OpenSSL and returns the tls_state of the result. The thread's queue of
 * OpenSSL errors must be empty before the call, because SSL_get_error reads
 * it. */
#define RUN(link, call)                            \
  ERR_clear_error();                               \
  enum tls_state state = state_of((link), (call)); \
  ERR_clear_error();                               \
  return state

static enum tls_state handshake(struct tls_link *link) {
  RUN(link, SSL_do_handshake(link->ssl));
}

static enum tls_state receive(struct tls_link *link, void *data, size_t size,
                              size_t *got) {
  *got = 0;
  RUN(link, SSL_read_ex(link->ssl, data, size, got));
}

static enum tls_state transmit(struct tls_link *link, const void *data,
                               size_t size) {
  size_t sent;
  RUN(link, SSL_write_ex(link->ssl, data, size, &sent));
}

static enum tls_state look(struct tls_link *link) {
  char byte;
  RUN(link, SSL_peek(link->ssl, &byte, 1));
}

static void send_closure(struct tls_link *link) {
  ERR_clear_error();
  SSL_shutdown(link->ssl);
  ERR_clear_error();
}

static const char *failure(const struct tls_link *link, bool *refused) {
  *refused = link->is_refused;
  return link->text;
}

/* Encrypted bytes. */

static bool feed(struct tls_link *link, const void *data, size_t size) {
  return BIO_write(link->in, data, (int)size) == (int)size;
}

static const char *pending(struct tls_link *link, size_t *size) {
  char *data = NULL;
  long n = BIO_get_mem_data(link->out, &data);
  *size = n > 0 ? (size_t)n : 0;
  return data;
}

static void sent(struct tls_link *link, size_t size) {
  char sink[4096];
  while (size > 0) {
    int n = BIO_read(link->out, sink,
                     size < sizeof sink ? (int)size : (int)sizeof sink);
    if (n <= 0) return;
    size -= (size_t)n;
  }
}

/* Creation. */

static void close_link(struct tls_link *link) {
  SSL_free(link->ssl);
  free(link);
}

/* Returns whether the handshake is allowed to contain the server's name (SNI).
 * Java's servers refuse a handshake if this name has other characters than
 * those below. */
static bool is_plain_name(const char *name) {
  return name[strspn(name,
                     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                     "0123456789-.")] == '\0' &&
         *name && *name != '.' && name[strlen(name) - 1] != '.' &&
         !certificate_name_is_address(name);
}

static bool prepare(struct tls_link *link, const struct tls_context *context) {
  link->in = BIO_new(BIO_s_mem());
  link->out = BIO_new(BIO_s_mem());
  SSL_CTX_set_cert_verify_callback(context->ssl, verify, NULL);
  link->ssl = SSL_new(context->ssl);
  if (!link->in || !link->out || !link->ssl) {
    BIO_free(link->in);
    BIO_free(link->out);
    return false;
  }
  SSL_set_bio(link->ssl, link->in, link->out);
  SSL_set_connect_state(link->ssl);
  SSL_set_app_data(link->ssl, link);
  SSL_set_cert_cb(link->ssl, on_request, NULL);
  return !is_plain_name(link->names) ||
         SSL_set_tlsext_host_name(link->ssl, link->names);
}

static struct tls_link *open_link(struct tls_context *context,
                                  const char *names) {
  size_t size = strlen(names) + 1;
  struct tls_link *link = calloc(1, sizeof *link + size);
  if (!link) return NULL;
  memcpy(link->names, names, size);
  link->has_certificate = context->has_certificate;
  if (prepare(link, context)) return link;
  close_link(link);
  return NULL;
}

X509 *link_certificate_of(const struct tls_link *link) {
  return SSL_get1_peer_certificate(link->ssl);
}

const struct tls_module link_module = {
    .magic = TLS_MAGIC,
    .version = TLS_VERSION,
    .read = context_read,
    .release = context_free,
    .open = open_link,
    .close = close_link,
    .feed = feed,
    .pending = pending,
    .sent = sent,
    .handshake = handshake,
    .receive = receive,
    .send = transmit,
    .look = look,
    .closure = send_closure,
    .failure = failure,
};
