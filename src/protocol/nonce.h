/* Nonces protect requests that change a node which other clients create and
 * delete, too, such as a barrier's node.
 *
 * A server may apply a request late, after its session has reconnected and
 * another client has changed the node (late_creates.c). ZooKeeper's conditions
 * do not prevent this, because the version of a new node is always 0. So the
 * session first creates a nonce: an ephemeral node with a unique name. The
 * request is a transaction that checks that the nonce exists.
 *
 * When the transaction is answered, zklock deletes the nonce. If the connection
 * was lost, that delete is the first request of the next connection. A server
 * applies the requests of one connection in order. So any later request of the
 * session comes after the delete, and servers refuse a late transaction from
 * then on. The exception is a throttled delete, which zklock sends again after
 * a pause.
 *
 * A server may apply the create of a nonce late, too. Then the node stays until
 * the session ends, but no transaction that checks it was ever sent. */
#ifndef ZKLOCK_NONCE_H
#define ZKLOCK_NONCE_H

#include "pipeline.h"

#pragma GCC visibility push(hidden)

/* The nonces that must be deleted. */
struct nonces {
  struct pipeline *pipeline;
  struct nonce *first;
  uint64_t count; /* the number of nonces created so far */
};

struct nonce {
  struct op op; /* the delete of the nonce's node */
  struct nonces *all;
  struct nonce *next;
  char path[];
};

void nonces_init(struct nonces *nonces, struct pipeline *pipeline);
/* Returns a new nonce beside the node at `path`. The caller sends its create.
 * Returns NULL if there is no memory. */
struct nonce *nonce_new(struct nonces *nonces, const char *path);
/* Deletes the nonce's node, if it exists, and frees the nonce. */
void nonce_delete(struct nonce *nonce);
/* Sends the deletes that no server has confirmed. Called first in each
 * connection, and after pauses. */
void nonces_drive(struct nonces *nonces);
/* Frees all nonces: the ZooKeeper session has ended. */
void nonces_end(struct nonces *nonces);

#pragma GCC visibility pop

#endif
