#include "certificate.h"

#include <arpa/inet.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { NAME_MAX_BYTES = 256, NAMES_SHOWN = 4 };

/* Names. */

/* Copies the next of `names` to `name`, in the form that certificates use:
 * without a dot at the end of a full name, and without the interface after an
 * address. Returns the rest of `names`, or NULL if there was no name. */
static const char *next_name(const char *names, char name[NAME_MAX_BYTES]) {
  names += strspn(names, " ");
  size_t length = strcspn(names, " ");
  if (length == 0) return NULL;
  snprintf(name, NAME_MAX_BYTES, "%.*s", (int)length, names);
  size_t end = strlen(name);
  if (end > 1 && name[end - 1] == '.') name[end - 1] = '\0';
  name[strcspn(name, "%")] = '\0';
  return names + length;
}

bool certificate_name_is_address(const char *name) {
  unsigned char address[sizeof(struct in6_addr)];
  return inet_pton(AF_INET, name, address) == 1 ||
         inet_pton(AF_INET6, name, address) == 1;
}

/* Skips a name that begins with a dot, because no server has such a name. For
 * such a name, OpenSSL would accept a certificate for any name that ends with
 * it. */
bool certificate_is_for(X509 *certificate, const char *names) {
  char name[NAME_MAX_BYTES];
  while ((names = next_name(names, name))) {
    if (name[0] == '.') continue;
    int ok = certificate_name_is_address(name)
                 ? X509_check_ip_asc(certificate, name, 0)
                 : X509_check_host(certificate, name, 0,
                                   X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS, NULL);
    if (ok == 1) return true;
  }
  return false;
}

/* Appends `data` to `text`, after `between` if `text` is not empty. Replaces
 * unprintable characters, because certificates are untrusted input. */
static void append(char *text, size_t size, const char *between,
                   const char *data, size_t length) {
  size_t at = strlen(text);
  at += (size_t)snprintf(text + at, size - at, "%s", at ? between : "");
  for (size_t i = 0; i < length && at + 1 < size; i++) {
    bool is_plain =
        data[i] >= ' ' && data[i] <= '~' && data[i] != '"' && data[i] != '\\';
    text[at] = data[i];
    if (!is_plain) text[at] = '?';
    at++;
    text[at] = '\0';
  }
}

static void append_name(char *text, size_t size, const GENERAL_NAME *name) {
  char address[INET6_ADDRSTRLEN] = "?";
  const ASN1_STRING *value = name->d.ia5;
  int length = ASN1_STRING_length(value);
  const unsigned char *data = ASN1_STRING_get0_data(value);
  if (name->type == GEN_DNS)
    append(text, size, ", ", (const char *)data, (size_t)length);
  if (name->type != GEN_IPADD) return;
  if (length == 4) inet_ntop(AF_INET, data, address, sizeof address);
  if (length == 16) inet_ntop(AF_INET6, data, address, sizeof address);
  append(text, size, ", ", address, strlen(address));
}

static void append_subject(const X509_NAME *name, char *text, size_t size) {
  char *line;
  BIO *bio = BIO_new(BIO_s_mem());
  if (bio && X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253) > 0) {
    long length = BIO_get_mem_data(bio, &line);
    append(text, size, "", line, (size_t)length);
  }
  BIO_free(bio);
}

void certificate_names(X509 *certificate, char *text, size_t size) {
  GENERAL_NAMES *names =
      X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
  int n = names ? sk_GENERAL_NAME_num(names) : 0;
  text[0] = '\0';
  for (int i = 0; i < n && i < NAMES_SHOWN; i++)
    append_name(text, size, sk_GENERAL_NAME_value(names, i));
  if (n > NAMES_SHOWN) append(text, size, ", ", "...", 3);
  GENERAL_NAMES_free(names);
  if (!*text) append_subject(X509_get_subject_name(certificate), text, size);
}

void certificate_date(const ASN1_TIME *time, char text[11]) {
  struct tm tm;
  snprintf(text, 11, "?");
  if (ASN1_TIME_to_tm(time, &tm)) strftime(text, 11, "%Y-%m-%d", &tm);
}

/* Describing a failed verification. */

static void describe_wrong_name(X509 *certificate, const char *wanted,
                                char text[TLS_TEXT]) {
  char names[120], list[100] = "", name[NAME_MAX_BYTES];
  certificate_names(certificate, names, sizeof names);
  while ((wanted = next_name(wanted, name)))
    append(list, sizeof list, " or ", name, strlen(name));
  snprintf(text, TLS_TEXT, "its certificate is for %s, not %s", names, list);
}

static void write_date(const char *subject, const X509 *certificate,
                       bool is_over, char *text, size_t size) {
  char date[11];
  certificate_date(is_over ? X509_get0_notAfter(certificate)
                           : X509_get0_notBefore(certificate),
                   date);
  snprintf(text, size,
           is_over ? "%s expired on %s"
                   : "%s is not yet valid: it begins on %s",
           subject, date);
}

static void describe_date(X509_STORE_CTX *store, X509 *certificate,
                          bool is_over, char text[TLS_TEXT]) {
  char subject[100] = "", of[140] = "its certificate";
  append_subject(X509_get_subject_name(certificate), subject, sizeof subject);
  if (X509_STORE_CTX_get_error_depth(store) > 0)
    snprintf(of, sizeof of, "the certificate of its authority (%s)", subject);
  write_date(of, certificate, is_over, text, TLS_TEXT);
}

void certificate_fault(const char *subject, const X509 *certificate, char *text,
                       size_t size) {
  time_t now = time(NULL);
  bool is_over = ASN1_TIME_cmp_time_t(X509_get0_notAfter(certificate), now) < 0;
  text[0] = '\0';
  if (is_over ||
      ASN1_TIME_cmp_time_t(X509_get0_notBefore(certificate), now) > 0)
    write_date(subject, certificate, is_over, text, size);
}

void certificate_describe(X509_STORE_CTX *store, const char *names,
                          char text[TLS_TEXT]) {
  int error = X509_STORE_CTX_get_error(store);
  X509 *certificate = X509_STORE_CTX_get_current_cert(store);
  char issuer[120] = "";
  if (!certificate) certificate = X509_STORE_CTX_get0_cert(store);
  switch (error) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
      describe_wrong_name(X509_STORE_CTX_get0_cert(store), names, text);
      break;
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
      describe_date(store, certificate, error == X509_V_ERR_CERT_HAS_EXPIRED,
                    text);
      break;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
    case X509_V_ERR_CERT_UNTRUSTED:
      append_subject(X509_get_issuer_name(certificate), issuer, sizeof issuer);
      snprintf(text, TLS_TEXT,
               "its certificate is issued by an unknown authority (%s), not by "
               "that of tls.ca",
               issuer);
      break;
    default:
      snprintf(text, TLS_TEXT, "its certificate is refused: %s",
               X509_verify_cert_error_string(error));
  }
}
