/* Nonces, for requests about a node that other clients create and delete by the same
 * name: a barrier's.
 *
 * A server may apply a request late, after its session has reconnected and another
 * client has changed the node (doubts.h).  ZooKeeper's conditions do not exclude this:
 * the version of a new node is always 0.  So the session first creates an ephemeral
 * node whose name no other request ever has, and the request is a transaction that
 * checks that this node is there.  When it is answered the nonce
 * is deleted; if the connection was lost, that is the first request of the next one.  A
 * server applies a session's requests of one connection in their order.  So whatever the
 * session asks for in the next connection comes after the delete, and a transaction that
 * was not applied before is refused from then on.  (Unless the server throttles the
 * delete: then it is sent again after a pause.)
 *
 * Its create may come late, too, and then it is there until the session ends; but no
 * transaction that would check it was ever sent. */
#ifndef ZKLOCK_NONCE_H
#define ZKLOCK_NONCE_H

#include "wire.h"

#pragma GCC visibility push(hidden)

/* Those that are to be deleted. */
struct nonces {
  struct wire *wire;
  struct nonce *first;
  uint64_t count; /* of all that were ever made */
};

struct nonce {
  struct op op; /* its delete */
  struct nonces *all;
  struct nonce *next;
  char path[];
};

void nonces_init(struct nonces *nonces, struct wire *wire);
/* A new one, beside the node at `path`.  The caller sends its create.  NULL: no
 * memory. */
struct nonce *nonce_new(struct nonces *nonces, const char *path);
/* The node may be there, and is not used any more: deletes and frees it. */
void nonce_delete(struct nonce *nonce);
/* Sends the deletes that no server has confirmed.  Called first in each connection. */
void nonces_drive(struct nonces *nonces);
/* The ZooKeeper session has ended, and they have, too. */
void nonces_end(struct nonces *nonces);

#pragma GCC visibility pop

#endif
