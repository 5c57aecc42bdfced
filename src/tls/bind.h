/* Binds the module's calls to the OpenSSL that the module is linked to. */
#ifndef ZKLOCK_TLS_BIND_H
#define ZKLOCK_TLS_BIND_H

#pragma GCC visibility push(hidden)

/* Makes the module's calls reach the OpenSSL that the module is linked to, not
 * one of the program. Must precede the first of these calls. The module then
 * stays in memory. Returns NULL, or why the binding fails. */
const char *bind_openssl(void);

#pragma GCC visibility pop

#endif
