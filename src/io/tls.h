/* The interface between the core and the module zklock.tls, which is linked to
 * OpenSSL. The core is not linked to the module: Lua passes this table of
 * functions to the core. So a program that uses no TLS loads no OpenSSL.
 *
 * A tls_link is the client's end of one TLS connection. It does no input and no
 * output: the caller passes received bytes to `feed`, and sends the bytes that
 * `pending` returns. */
#ifndef ZKLOCK_TLS_H
#define ZKLOCK_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TLS_MAGIC UINT32_C(0x7a6b746c)
#define TLS_VERSION UINT32_C(1)
/* The name of the metatable of the userdata that contains the table's
 * address. */
#define TLS_MODULE_TYPE "zklock.tls.module"
#define TLS_TEXT 300 /* size of an error's text */
#define TLS_RECORD 16384

enum tls_state {
  TLS_DONE,   /* the call is complete */
  TLS_WAITS,  /* the call needs more bytes from the server */
  TLS_ENDED,  /* the server has closed the connection */
  TLS_FAILED, /* the call has failed: see `failure` */
};

struct tls_files {
  const char *ca, *cert, *key; /* `cert` and `key` can be NULL */
};

struct tls_context; /* the contents of the certificates' files */
struct tls_link;

struct tls_module {
  uint32_t magic, version;

  /* Reads the files. Returns NULL and sets `error` if a file cannot be used. */
  struct tls_context *(*read)(const struct tls_files *files,
                              char error[TLS_TEXT]);
  void (*release)(struct tls_context *context);

  /* Creates a link. The server's certificate must be for one of these `names`
   * or addresses, which spaces separate. The link keeps its own reference to
   * what it needs of the context. Returns NULL if there is no memory. */
  struct tls_link *(*open)(struct tls_context *context, const char *names);
  void (*close)(struct tls_link *link);

  /* Takes bytes that the server has sent. Returns false if there is no
   * memory. */
  bool (*feed)(struct tls_link *link, const void *data, size_t size);
  /* Returns the bytes that must be sent to the server. They are valid until the
   * next call. */
  const char *(*pending)(struct tls_link *link, size_t *size);
  /* Removes the first `size` bytes of `pending`, because they were sent. */
  void (*sent)(struct tls_link *link, size_t size);

  enum tls_state (*handshake)(struct tls_link *link);
  /* Decrypts received data. `*got` is the number of bytes, also if the result
   * is not TLS_DONE. */
  enum tls_state (*receive)(struct tls_link *link, void *data, size_t size,
                            size_t *got);
  /* Encrypts at most TLS_RECORD bytes, and adds them to `pending`. */
  enum tls_state (*send)(struct tls_link *link, const void *data, size_t size);
  /* Searches the bytes behind the server's data for an alert of the server. */
  enum tls_state (*look)(struct tls_link *link);
  /* Adds a closure alert to `pending`. */
  void (*closure)(struct tls_link *link);

  /* Returns a text that says why a call returned TLS_FAILED. Sets `*refused` if
   * one side does not accept the other's certificate. */
  const char *(*failure)(const struct tls_link *link, bool *refused);
};

#endif
