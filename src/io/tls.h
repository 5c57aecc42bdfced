/* The interface between the core and the module zklock.tls, which is linked to
 * OpenSSL. The core is not: it gets this table of functions from Lua. So a
 * program that uses no TLS loads no OpenSSL.
 *
 * A tls_link is the client's end of one TLS connection. It does no input and
 * no output: the caller feeds it what the server has sent, and sends what is
 * pending. */
#ifndef ZKLOCK_TLS_H
#define ZKLOCK_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TLS_MAGIC UINT32_C(0x7a6b746c)
#define TLS_VERSION UINT32_C(1)
/* The metatable of the userdata that holds the table's address. */
#define TLS_MODULE_TYPE "zklock.tls.module"
#define TLS_TEXT 300 /* size of an error's text */
#define TLS_RECORD 16384

enum tls_state {
  TLS_DONE,   /* the call is complete */
  TLS_WAITS,  /* it needs more from the server */
  TLS_ENDED,  /* the server has closed the connection */
  TLS_FAILED, /* see `failure` */
};

struct tls_files {
  const char *ca, *cert, *key; /* cert and key: NULL for none */
};

struct tls_context; /* the contents of the files */
struct tls_link;

struct tls_module {
  uint32_t magic, version;

  /* Reads the files. Returns NULL and sets `error` if one of them cannot be
   * used. */
  struct tls_context *(*read)(const struct tls_files *files,
                              char error[TLS_TEXT]);
  void (*release)(struct tls_context *context);

  /* `names`: the server's certificate must be for one of these names and
   * addresses, which spaces separate. The link keeps what it needs of the
   * context. Returns NULL if there is no memory. */
  struct tls_link *(*open)(struct tls_context *context, const char *names);
  void (*close)(struct tls_link *link);

  /* Takes what the server has sent. Returns false if there is no memory. */
  bool (*feed)(struct tls_link *link, const void *data, size_t size);
  /* Returns what must be sent to the server; valid until the next call. */
  const char *(*pending)(struct tls_link *link, size_t *size);
  void (*sent)(struct tls_link *link, size_t size); /* the first bytes of it */

  enum tls_state (*handshake)(struct tls_link *link);
  /* `*got`: the bytes read, also if the result is not TLS_DONE. */
  enum tls_state (*receive)(struct tls_link *link, void *data, size_t size,
                            size_t *got);
  /* Encrypts at most TLS_RECORD bytes. */
  enum tls_state (*send)(struct tls_link *link, const void *data, size_t size);
  /* Looks for an alert of the server behind the data that it has sent. */
  enum tls_state (*look)(struct tls_link *link);
  void (*farewell)(struct tls_link *link); /* adds a closure alert */

  /* Returns why TLS_FAILED was returned. `*refused`: one side does not accept
   * the other's certificate. */
  const char *(*failure)(const struct tls_link *link, bool *refused);
};

#endif
