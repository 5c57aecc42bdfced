/* Which OpenSSL the module's calls reach. */
#ifndef ZKLOCK_TLS_BIND_H
#define ZKLOCK_TLS_BIND_H

#pragma GCC visibility push(hidden)

/* Makes the module's calls reach the OpenSSL that it is linked to. Must be
 * called before any of them. Keeps the module in memory. Returns NULL, or why
 * that is impossible. */
const char *bind_openssl(void);

#pragma GCC visibility pop

#endif
