/* The interface between the core and the module zklock.tls, which is linked to
 * OpenSSL. The core is not linked to this module. Instead, Lua passes the
 * module's table of functions, struct tls_module, to the core. So a program
 * that uses no TLS loads no OpenSSL.
 *
 * A tls_link is the client's end of one TLS connection. It does no I/O. Its
 * caller passes received bytes to `feed`, and sends the bytes that `pending`
 * returns. */
#ifndef ZKLOCK_TLS_H
#define ZKLOCK_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TLS_MAGIC UINT32_C(0x7a6b746c)
#define TLS_VERSION UINT32_C(1)
/* Lua passes the table's address to the core in a userdata. This is the name of
 * the userdata's metatable. */
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

  /* Reads the files. If a file cannot be used, returns NULL and sets `error` to
   * the reason. */
  struct tls_context *(*read)(const struct tls_files *files,
                              char error[TLS_TEXT]);
  void (*release)(struct tls_context *context);

  /* Creates a link. `names`: host names or IP addresses, separated by spaces.
   * The server's certificate must match one of them. The link holds a reference
   * to the context's data, so the context can be freed first. Returns NULL if
   * there is no memory. */
  struct tls_link *(*open)(struct tls_context *context, const char *names);
  void (*close)(struct tls_link *link);

  /* Stores bytes that the server has sent. The next call of `handshake` or
   * `receive` uses them. Returns false if there is no memory. */
  bool (*feed)(struct tls_link *link, const void *data, size_t size);
  /* Returns the bytes that must be sent to the server, and sets `*size` to
   * their number. They are valid until the next call. */
  const char *(*pending)(struct tls_link *link, size_t *size);
  /* Removes the first `size` bytes from `pending`, because they were sent. */
  void (*sent)(struct tls_link *link, size_t size);

  enum tls_state (*handshake)(struct tls_link *link);
  /* Decrypts received data. Sets `*got` to the number of decrypted bytes, even
   * if the result is not TLS_DONE. */
  enum tls_state (*receive)(struct tls_link *link, void *data, size_t size,
                            size_t *got);
  /* Encrypts at most TLS_RECORD bytes, and adds them to `pending`. */
  enum tls_state (*send)(struct tls_link *link, const void *data, size_t size);
  /* Looks at the next received bytes, without removing them. Returns TLS_FAILED
   * if they are an alert that reports a failure. */
  enum tls_state (*look)(struct tls_link *link);
  /* Adds a closure alert to `pending`. The alert tells the server that no more
   * data will follow. */
  void (*closure)(struct tls_link *link);

  /* Returns a text that says why a call returned TLS_FAILED. Sets `*refused` to
   * whether one side has refused the other's certificate. */
  const char *(*failure)(const struct tls_link *link, bool *refused);
};

#endif
