#include "tls_server.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "tls/link.h"

struct authority ours, others;
struct tls_files files, with_certificate;

static char directory[] = "/tmp/zklock-unit-XXXXXX";

/* Certificates. */

static void add_extension(X509 *certificate, int nid, const char *value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
  X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
  CHECK(extension && X509_add_ext(certificate, extension, -1));
  X509_EXTENSION_free(extension);
}

static X509 *certificate_of(const struct authority *by, EVP_PKEY *key,
                            const struct issue *issue) {
  static long serial = 1;
  X509 *c = X509_new();
  X509_NAME *subject = X509_get_subject_name(c);
  int from = issue->until ? issue->from : -1;
  X509_set_version(c, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(c), serial++);
  X509_gmtime_adj(X509_getm_notBefore(c), from * 86400L);
  X509_gmtime_adj(X509_getm_notAfter(c),
                  (issue->until ? issue->until : 365) * 86400L);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             (const unsigned char *)issue->name, -1, -1, 0);
  X509_set_issuer_name(c,
                       by ? X509_get_subject_name(by->certificate) : subject);
  X509_set_pubkey(c, key);
  add_extension(c, NID_basic_constraints, by ? "CA:FALSE" : "CA:TRUE");
  if (issue->names) add_extension(c, NID_subject_alt_name, issue->names);
  CHECK(X509_sign(c, by ? by->key : key, EVP_sha256()) > 0);
  return c;
}

struct authority tls_authority(const struct issue *issue) {
  struct authority a = {.key = EVP_EC_gen("P-256")};
  a.certificate = certificate_of(NULL, a.key, issue);
  return a;
}

void tls_authority_free(struct authority *a) {
  X509_free(a->certificate);
  EVP_PKEY_free(a->key);
}

/* Files. */

const char *tls_path(const char *name) {
  static char paths[8][100];
  static unsigned next;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", directory, name);
  return path;
}

static FILE *create(const char *path, int mode) {
  unlink(path);
  FILE *file = fdopen(open(path, O_WRONLY | O_CREAT | O_EXCL, 0600), "w");
  CHECK(file && chmod(path, (mode_t)mode) == 0);
  return file;
}

const char *tls_file(const char *name, const char *text, int mode) {
  const char *path = tls_path(name);
  FILE *file = create(path, mode);
  fputs(text, file);
  fclose(file);
  return path;
}

static void write_certificate(X509 *certificate, const char *path) {
  FILE *file = create(path, 0644);
  CHECK(PEM_write_X509(file, certificate));
  fclose(file);
}

void tls_certify(const struct authority *by, const struct issue *issue,
                 const char *name) {
  char file_name[50];
  EVP_PKEY *key =
      issue->rsa_bits ? EVP_RSA_gen(issue->rsa_bits) : EVP_EC_gen("P-256");
  X509 *certificate = certificate_of(by, key, issue);
  snprintf(file_name, sizeof file_name, "%s.crt", name);
  write_certificate(certificate, tls_path(file_name));
  snprintf(file_name, sizeof file_name, "%s.key", name);
  FILE *file = create(tls_path(file_name), 0600);
  CHECK(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL));
  fclose(file);
  X509_free(certificate);
  EVP_PKEY_free(key);
}

static void remove_all(void) {
  char command[100];
  snprintf(command, sizeof command, "rm -r '%s'", directory);
  if (system(command) != 0) perror(directory);
}

void tls_begin(void) {
  static char ca[100], cert[100], key[100];
  if (files.ca) return;
  CHECK(mkdtemp(directory));
  atexit(remove_all);
  ours = tls_authority(&(struct issue){.name = "ours"});
  others = tls_authority(&(struct issue){.name = "others"});
  write_certificate(ours.certificate, tls_path("ca"));
  tls_certify(&ours, &(struct issue){.name = "client"}, "client");
  snprintf(ca, sizeof ca, "%s", tls_path("ca"));
  snprintf(cert, sizeof cert, "%s", tls_path("client.crt"));
  snprintf(key, sizeof key, "%s", tls_path("client.key"));
  files = (struct tls_files){.ca = ca};
  with_certificate = (struct tls_files){ca, cert, key};
}

/* The server. */

struct tls_server tls_server_of(const struct authority *by,
                                const struct issue *issue, bool wants) {
  struct tls_server s = {.context = SSL_CTX_new(TLS_server_method())};
  EVP_PKEY *key = EVP_EC_gen("P-256");
  X509 *certificate = certificate_of(by, key, issue);
  CHECK(SSL_CTX_use_certificate(s.context, certificate));
  CHECK(SSL_CTX_use_PrivateKey(s.context, key));
  X509_free(certificate);
  EVP_PKEY_free(key);
  X509_STORE_add_cert(SSL_CTX_get_cert_store(s.context), ours.certificate);
  if (wants)
    SSL_CTX_set_verify(s.context,
                       SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
  s.ssl = SSL_new(s.context);
  s.in = BIO_new(BIO_s_mem());
  s.out = BIO_new(BIO_s_mem());
  SSL_set_bio(s.ssl, s.in, s.out);
  SSL_set_accept_state(s.ssl);
  return s;
}

void tls_server_free(struct tls_server *s) {
  SSL_free(s->ssl);
  SSL_CTX_free(s->context);
  ERR_clear_error(); /* which it has left for others */
}

void tls_to_link(struct tls_link *link, struct tls_server *server) {
  char piece[1000];
  int n;
  while ((n = BIO_read(server->out, piece, sizeof piece)) > 0)
    CHECK(link_module.feed(link, piece, (size_t)n));
}

void tls_to_server(struct tls_link *link, struct tls_server *server) {
  size_t size;
  const char *data = link_module.pending(link, &size);
  if (size == 0) return;
  CHECK_INT(size, BIO_write(server->in, data, (int)size));
  link_module.sent(link, size);
}

enum tls_state tls_shake(struct tls_link *link, struct tls_server *server) {
  enum tls_state state = TLS_WAITS;
  for (int i = 0; i < 10 && state == TLS_WAITS; i++) {
    state = link_module.handshake(link);
    tls_to_server(link, server);
    SSL_do_handshake(server->ssl);
    tls_to_link(link, server);
  }
  return state;
}
