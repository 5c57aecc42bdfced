#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "test.h"
#include "tls/link.h"
#include "tls_server.h"

ABOUT("A TLS link");

static const struct issue localhost = {.name = "zk1",
                                       .names = "DNS:localhost,IP:127.0.0.1"};

static struct tls_link *link_to(const struct tls_files *of, const char *names) {
  char error[TLS_TEXT];
  struct tls_context *context = link_module.read(of, error);
  CHECK_TEXT("", error);
  struct tls_link *link = link_module.open(context, names);
  link_module.release(context);
  return link;
}

/* Fails unless the handshake ends so; `why` NULL: it succeeds. */
static void expect_end(const char *why, bool is_refusal,
                       const struct tls_files *of, const char *names,
                       struct tls_server server) {
  bool refused = false;
  struct tls_link *link = link_to(of, names);
  enum tls_state state = tls_shake(link, &server);
  if (state == TLS_DONE) state = link_module.look(link); /* TLS 1.3's alerts */
  CHECK_TEXT(why ? why : "", link_module.failure(link, &refused));
  CHECK_INT(why ? TLS_FAILED : TLS_WAITS, state);
  CHECK_INT(is_refusal, refused);
  link_module.close(link);
  tls_server_free(&server);
}

/* The same, and what fails is a refusal. */
static void expect(const char *why, const struct tls_files *of,
                   const char *names, struct tls_server server) {
  expect_end(why, why != NULL, of, names, server);
}

static void expect_names(const char *why, const char *in_certificate,
                         const char *asked) {
  const struct issue issue = {.name = "zk1.example", .names = in_certificate};
  expect(why, &files, asked, tls_server_of(&ours, &issue, false));
}

TEST("accepts a certificate for the name, or for one of them") {
  tls_begin();
  expect_names(NULL, "DNS:localhost", "localhost");
  expect_names(NULL, "DNS:a.example,DNS:b.example", "b.example");
  expect_names(NULL, "DNS:b.example", "B.EXAMPLE.");
  expect_names(NULL, "DNS:*.zk.example", "b.zk.example");
  expect_names(NULL, "DNS:b.example", "a.example b.example");
  expect_names(NULL, "IP:127.0.0.1", "localhost 127.0.0.1");
  expect_names(NULL, "IP:0:0:0:0:0:0:0:1", "::1");
  expect_names(NULL, "IP:fe80:0:0:0:0:0:0:1", "fe80::1%eth0");
  expect_names(NULL, NULL, "zk1.example"); /* by its subject */
  expect_names(NULL, "DNS:zk_1", "zk_1");
}

TEST("refuses a certificate for other names, and reports these names") {
  tls_begin();
  expect_names("its certificate is for a.example, not b.example",
               "DNS:a.example", "b.example");
  expect_names("its certificate is for a.example, 10.0.0.1, not b or 10.0.0.2",
               "DNS:a.example,IP:10.0.0.1", "b 10.0.0.2");
  expect_names("its certificate is for *.example, not a.b.example",
               "DNS:*.example", "a.b.example");
  expect_names("its certificate is for a*.example, not ab.example",
               "DNS:a*.example", "ab.example");
  expect_names("its certificate is for CN=zk1.example, not zk2.example", NULL,
               "zk2.example");
  /* The subject does not count beside other names, nor does a name that reads
   * like an address. */
  expect_names("its certificate is for a.example, not zk1.example",
               "DNS:a.example", "zk1.example");
  expect_names("its certificate is for 10.0.0.1, not 10.0.0.1", "DNS:10.0.0.1",
               "10.0.0.1");
  /* To OpenSSL, a name with a dot in front stands for all names below it. */
  expect_names("its certificate is for a.example, not .example",
               "DNS:a.example", ".example");
  expect_names("its certificate is for a.example, not ", "DNS:a.example", "%");
}

TEST("shows no bytes of a certificate that are not printable") {
  tls_begin();
  const struct issue issue = {.name = "\x1b[31m\"red\""};
  expect("its certificate is for CN=?1B[31m?\?red?\?, not b", &files, "b",
         tls_server_of(&ours, &issue, false));
}

TEST("refuses a certificate of another authority, also of the same name") {
  tls_begin();
  const char *unknown =
      "its certificate is issued by an unknown authority (CN=others), not by "
      "that of tls.ca";
  expect(unknown, &files, "localhost",
         tls_server_of(&others, &localhost, false));
  struct authority namesake = {ours.certificate, others.key};
  expect(
      "its certificate is issued by an unknown authority (CN=ours), not by "
      "that of tls.ca",
      &files, "localhost", tls_server_of(&namesake, &localhost, false));
}

/* `format` with the date in so many days. */
static const char *dated(const char *format, int days) {
  static char text[TLS_TEXT];
  char day[11];
  time_t then = time(NULL) + days * 86400;
  strftime(day, sizeof day, "%Y-%m-%d", gmtime(&then));
  snprintf(text, sizeof text, format, day);
  return text;
}

TEST("refuses a certificate before and after its time") {
  struct issue issue = localhost;
  tls_begin();
  issue.from = -9;
  issue.until = -2;
  expect(dated("its certificate expired on %s", -2), &files, "localhost",
         tls_server_of(&ours, &issue, false));
  issue.from = 2;
  issue.until = 9;
  expect(dated("its certificate is not yet valid: it begins on %s", 2), &files,
         "localhost", tls_server_of(&ours, &issue, false));
}

TEST("refuses a certificate whose authority has expired") {
  tls_begin();
  struct authority past =
      tls_authority(&(struct issue){.name = "past", .from = -9, .until = -2});
  FILE *file = fopen(tls_file("past", "", 0600), "w");
  PEM_write_X509(file, past.certificate);
  fclose(file);
  const struct tls_files trusting = {.ca = tls_path("past")};
  expect(dated("the certificate of its authority (CN=past) expired on %s", -2),
         &trusting, "localhost", tls_server_of(&past, &localhost, false));
  tls_authority_free(&past);
}

/* Servers of both versions, because they refuse in different moments. */
static struct tls_server wanting(int version) {
  struct tls_server server = tls_server_of(&ours, &localhost, true);
  SSL_set_max_proto_version(server.ssl, version);
  return server;
}

TEST("shows its certificate to a server that wants one") {
  tls_begin();
  expect(NULL, &with_certificate, "localhost", wanting(TLS1_3_VERSION));
  expect(NULL, &with_certificate, "localhost", wanting(TLS1_2_VERSION));
}

TEST("says that the server wants a certificate, or does not like ours") {
  tls_begin();
  const char *wants =
      "the server wants a client certificate: set tls.cert and tls.key (alert: "
      "%s)";
  char text[TLS_TEXT];
  snprintf(text, sizeof text, wants, "certificate required");
  expect(text, &files, "localhost", wanting(TLS1_3_VERSION));
  snprintf(text, sizeof text, wants, "handshake failure");
  expect(text, &files, "localhost", wanting(TLS1_2_VERSION));
  tls_certify(&others, &(struct issue){.name = "client"}, "stranger");
  const struct tls_files strange = {files.ca, tls_path("stranger.crt"),
                                    tls_path("stranger.key")};
  const char *refuses =
      "the server refuses the certificate of tls.cert (alert: unknown CA)";
  expect(refuses, &strange, "localhost", wanting(TLS1_3_VERSION));
  expect(refuses, &strange, "localhost", wanting(TLS1_2_VERSION));
}

/* A certificate of ours for so many days, which is shown to a server. */
static struct tls_files dated_files(int from, int until) {
  tls_certify(&ours,
              &(struct issue){.name = "client", .from = from, .until = until},
              "dated");
  return (struct tls_files){files.ca, tls_path("dated.crt"),
                            tls_path("dated.key")};
}

TEST("says that the certificate which a server refuses is outside its dates") {
  tls_begin();
  struct tls_files shown = dated_files(-9, -2);
  const char *text = dated(
      "the server refuses the certificate of tls.cert, which expired on %s "
      "(alert: certificate expired)",
      -2);
  expect(text, &shown, "localhost", wanting(TLS1_3_VERSION));
  expect(text, &shown, "localhost", wanting(TLS1_2_VERSION));
  shown = dated_files(2, 9);
  text = dated(
      "the server refuses the certificate of tls.cert, which is not yet valid: "
      "it begins on %s (alert: bad certificate)",
      2);
  expect(text, &shown, "localhost", wanting(TLS1_3_VERSION));
}

TEST("does not speak a version before TLS 1.2") {
  tls_begin();
  struct tls_server server = tls_server_of(&ours, &localhost, false);
  SSL_set_security_level(server.ssl, 0);
  SSL_set_min_proto_version(server.ssl, TLS1_VERSION);
  SSL_set_max_proto_version(server.ssl, TLS1_1_VERSION);
  expect_end("the server ends TLS (alert: protocol version)", false, &files,
             "localhost", server);
}

TEST("does not begin a new handshake in a connection") {
  char byte;
  size_t got;
  bool refused;
  tls_begin();
  struct tls_server server = tls_server_of(&ours, &localhost, false);
  SSL_set_max_proto_version(server.ssl, TLS1_2_VERSION);
  struct tls_link *link = link_to(&files, "localhost");
  CHECK_INT(TLS_DONE, tls_shake(link, &server));
  SSL_renegotiate(server.ssl);
  SSL_do_handshake(server.ssl);
  tls_to_link(link, &server);
  link_module.receive(link, &byte, 1, &got);
  CHECK_INT(0, got);
  tls_to_server(link, &server);
  CHECK(SSL_read(server.ssl, &byte, 1) <= 0);
  CHECK(!SSL_is_init_finished(server.ssl) ||
        *link_module.failure(link, &refused));
  link_module.close(link);
  tls_server_free(&server);
}

/* Feeds the server's first flight up to `n`, then garbage. Returns false if
 * the flight is not so long. */
static bool interrupt(int n) {
  char flight[8000], garbage[64];
  bool refused;
  struct tls_server server = tls_server_of(&ours, &localhost, false);
  struct tls_link *link = link_to(&files, "localhost");
  memset(garbage, 0xff, sizeof garbage);
  link_module.handshake(link);
  tls_to_server(link, &server);
  SSL_do_handshake(server.ssl);
  int size = BIO_read(server.out, flight, sizeof flight);
  if (n < size) {
    link_module.feed(link, flight, (size_t)n);
    CHECK_INT(TLS_WAITS, link_module.handshake(link));
    for (int i = 0; i < 300; i++) {
      link_module.feed(link, garbage, sizeof garbage);
      if (link_module.handshake(link) == TLS_FAILED) break;
    }
    CHECK_INT(TLS_FAILED, link_module.handshake(link));
    CHECK(*link_module.failure(link, &refused));
  }
  link_module.close(link);
  tls_server_free(&server);
  return n < size;
}

TEST("fails if garbage follows any part of the server's handshake") {
  tls_begin();
  int n = 0;
  while (interrupt(n)) n += n < 200 ? 1 : 13;
  CHECK(n > 400);
}

TEST("fails at a record that is too long, as soon as its head is there") {
  char byte;
  size_t got;
  bool refused;
  tls_begin();
  struct tls_server server = tls_server_of(&ours, &localhost, false);
  struct tls_link *link = link_to(&files, "localhost");
  CHECK_INT(TLS_DONE, tls_shake(link, &server));
  CHECK_INT(TLS_WAITS, link_module.receive(link, &byte, 1, &got));
  CHECK(link_module.feed(link, "\x17\x03\x03\xff\xff", 5));
  CHECK_INT(TLS_FAILED, link_module.receive(link, &byte, 1, &got));
  /* OpenSSL 3.0 calls the packet too long, 3.5 its encrypted part. */
  CHECK(strstr(link_module.failure(link, &refused), " length too long"));
  CHECK(!refused);
  link_module.close(link);
  tls_server_free(&server);
}

/* Returns whether the link takes this fatal alert for a refusal. */
static bool is_refused_by(int alert) {
  char record[] = {0x15, 3, 3, 0, 2, 2, (char)alert};
  bool refused;
  struct tls_link *link = link_to(&files, "localhost");
  CHECK_INT(TLS_WAITS, link_module.handshake(link));
  CHECK(link_module.feed(link, record, sizeof record));
  CHECK_INT(TLS_FAILED, link_module.handshake(link));
  CHECK(strstr(link_module.failure(link, &refused), "(alert: "));
  link_module.close(link);
  return refused;
}

TEST("names a server's alert, and knows which one is a refusal") {
  int refusals = 0;
  tls_begin();
  for (int alert = 1; alert < 256; alert++) refusals += is_refused_by(alert);
  CHECK_INT(9, refusals);
}

/* A server whose chain has so many certificates that do not belong there. */
static struct tls_server with_chain(int length) {
  struct tls_server server = tls_server_of(&ours, &localhost, false);
  for (int i = 0; i < length; i++)
    CHECK(SSL_add1_chain_cert(server.ssl, others.certificate));
  return server;
}

TEST("takes a long chain of certificates, and none of more than 100 KB") {
  tls_begin();
  int size = i2d_X509(others.certificate, NULL) + 5;
  expect(NULL, &files, "localhost", with_chain(95000 / size));
  expect_end("TLS fails: excessive message size", false, &files, "localhost",
             with_chain(105000 / size));
}

/* Files. */

static void expect_fault(const char *text, const char *ca, const char *cert,
                         const char *key) {
  char error[TLS_TEXT];
  const struct tls_files given = {ca ? ca : files.ca, cert, key};
  CHECK(!link_module.read(&given, error));
  const char *colon = strstr(error, "): ");
  CHECK(colon);
  CHECK_TEXT(text, colon + 3);
  CHECK_INT(0, ERR_peek_error());
}

TEST("needs files that are there, regular, and in PEM format") {
  tls_begin();
  const char *cert = with_certificate.cert, *key = with_certificate.key;
  expect_fault("No such file or directory", "/nowhere/ca", NULL, NULL);
  expect_fault("it is no regular file", "/tmp", NULL, NULL);
  expect_fault("it has no certificate in PEM format",
               tls_file("empty", "", 0600), NULL, NULL);
  expect_fault("it has a certificate that cannot be read",
               tls_file("broken",
                        "-----BEGIN CERTIFICATE-----\nAAAA\n"
                        "-----END CERTIFICATE-----\n",
                        0600),
               NULL, NULL);
  expect_fault("it has no certificate in PEM format", NULL, key, key);
  expect_fault("it has no private key in PEM format", NULL, cert,
               tls_file("none", "none\n", 0600));
  tls_certify(&ours, &(struct issue){.name = "a"}, "other");
  expect_fault("it is not the key of the first certificate of tls.cert", NULL,
               cert, tls_path("other.key"));
  const struct issue weak = {.name = "weak", .rsa_bits = 512};
  tls_certify(&ours, &weak, "weak");
  expect_fault("its certificate cannot be used: ee key too small", NULL,
               tls_path("weak.crt"), tls_path("weak.key"));
}

TEST("needs a key that no other user may read, and that has no passphrase") {
  tls_begin();
  const char *cert = with_certificate.cert;
  tls_certify(&ours, &(struct issue){.name = "a"}, "open");
  CHECK_INT(0, chmod(tls_path("open.key"), 0640));
  expect_fault("it may be used by others (mode 640): chmod 600 it", NULL, cert,
               tls_path("open.key"));
  const char *locked = tls_file(
      "locked",
      "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n"
      "DEK-Info: AES-128-CBC,00000000000000000000000000000000\n\nAAAA\n"
      "-----END EC PRIVATE KEY-----\n",
      0600);
  expect_fault(
      "it has a passphrase, and zklock asks for none: write the key without "
      "one, by 'openssl pkey'",
      NULL, cert, locked);
}
