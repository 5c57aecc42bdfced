/* A fake of the module zklock.tls, behind the interface of io/tls.h. The
 * server's end, in client_line.c, sends records as the link's zk_tls
 * prescribes. A data record has only one byte, but is decrypted to a packet as
 * large as the buffer of io/stream.h. So several records fit into one read of
 * the socket. The link then still has undecrypted packets while the socket has
 * no more bytes. */
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

/* Returns the link that this thread has opened last, or NULL if that link was
 * already taken. */
struct tls_link *fake_tls_take(void);
bool fake_tls_is_shaken(const struct tls_link *link);

#pragma GCC visibility pop

#endif
