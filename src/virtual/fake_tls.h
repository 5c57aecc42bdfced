/* A fake of the module zklock.tls, with the interface of io/tls.h. The server's
 * end is in client_line.c; it sends the records that struct zk_tls (operator.h)
 * prescribes. A data record has only one byte, but is decrypted to a packet as
 * large as the buffer of io/stream.h. So one read of the socket can return
 * several records. Then packets are left to decrypt while the socket has no
 * more bytes. */
#ifndef ZKLOCK_VIRTUAL_FAKE_TLS_H
#define ZKLOCK_VIRTUAL_FAKE_TLS_H

#include "io/tls.h"

#pragma GCC visibility push(hidden)

/* The first bytes of each record, by which io/handshake.c recognizes TLS. */
#define FAKE_HEAD "\x16\x03"
enum { FAKE_HEAD_SIZE = 2, FAKE_PACKET = TLS_RECORD };

/* The kinds of records. */
enum {
  FAKE_SHAKEN = 'h', /* the server's part of the handshake */
  FAKE_DATA = 'd',   /* a packet */
  FAKE_ALERT = 'a',  /* the server fails; a text that a NUL ends says why */
  FAKE_REFUSAL = 'r' /* the same, because of a certificate */
};

extern const struct tls_module fake_tls;

/* Returns the TLS link that this thread has opened last. Returns NULL if an
 * earlier call has already returned that link. */
struct tls_link *fake_tls_take(void);
bool fake_tls_is_shaken(const struct tls_link *link);

#pragma GCC visibility pop

#endif
