/* Binds the calls of the module zklock.tls to the OpenSSL that the module is
 * linked to. */
#ifndef ZKLOCK_TLS_BIND_H
#define ZKLOCK_TLS_BIND_H

#pragma GCC visibility push(hidden)

/* Makes the module's calls reach the OpenSSL that the module is linked to.
 * Otherwise they can reach an OpenSSL of the program. Must be called before the
 * module's first call of OpenSSL. Keeps the module in memory until the process
 * ends. Returns NULL, or why the binding has failed. */
const char *bind_openssl(void);

#pragma GCC visibility pop

#endif
