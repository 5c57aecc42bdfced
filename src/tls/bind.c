/* A program can export an OpenSSL of its own. An example is an nginx that is
 * statically linked to OpenSSL. The dynamic linker then binds this module's
 * calls to the program's OpenSSL. It also binds the calls of libssl to the
 * program's libcrypto, although their versions can differ. So this file binds
 * the names to the libraries that this module is linked to. io/imports.c does
 * the same for ZooKeeper's library. */
#include "bind.h"

#include <dlfcn.h>
#include <openssl/crypto.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdint.h>

#include "io/images.h"

#ifndef OPENSSL_VERSION_MAJOR
#error "zklock.tls needs OpenSSL 3: the headers are those of an older version"
#endif

static const char *fault;

#ifdef IMAGES

static struct image libssl, libcrypto, own;

static const void *choose(void *self, const char *name, const void *its) {
  const void *address = dlsym(self, name);
  (void)its;
  return image_has(&libssl, address) || image_has(&libcrypto, address) ? address
                                                                       : NULL;
}

static void rewrite(void *self) {
  if (!image_find(&libssl, dlsym(self, "SSL_new")) ||
      !image_find(&libcrypto, dlsym(self, "OPENSSL_init_crypto")) ||
      !image_find(&own, &fault))
    return;
  image_bind(&libcrypto, choose, self);
  image_bind(&libssl, choose, self);
  image_bind(&own, choose, self);
}

#else

static void rewrite(void *self) { (void)self; }

#endif

/* Returns NULL if this module's calls reach the right OpenSSL; otherwise
 * returns an error message. Kept out of `bind`: there, the compiler could load
 * the address of SSL_new before rewrite() has bound it. Then the check would
 * compare the old address. */
__attribute__((noinline)) static const char *check(void *self) {
  if (dlsym(self, "SSL_new") != (void *)(uintptr_t)SSL_new ||
      dlsym(self, "OPENSSL_init_crypto") !=
          (void *)(uintptr_t)OPENSSL_init_crypto)
    return "the program has an OpenSSL of its own, whose functions would be "
           "called";
  /* Only the major version must match: since 3.0, OpenSSL keeps its ABI within
   * a major version. A function of a later minor version has that version in
   * its symbol. If the function is missing, the dynamic linker refuses to load
   * this module. */
  if (OpenSSL_version_num() >> 28 != OPENSSL_VERSION_MAJOR)
    return "it was built for another version of OpenSSL";
  return NULL;
}

/* Binds the names. Then initializes OpenSSL without its cleanup at exit,
 * because I/O threads still use OpenSSL at exit. If another library has already
 * initialized OpenSSL, the cleanup stays. For that case, see
 * registry_exit_first (io/registry.h). */
static void bind(void) {
  Dl_info info;
  void *self =
      dladdr(&fault, &info)
          ? dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE)
          : NULL;
  if (!self) {
    fault = "the module cannot be found in memory";
    return;
  }
  rewrite(self);
  fault = check(self);
  if (!fault && !OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL))
    fault = "OpenSSL cannot be initialized";
}

const char *bind_openssl(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, bind);
  return fault;
}
