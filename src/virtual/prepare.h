/* Prepares requests for the leader. Checks a request against the leader's tree
 * `head`, which includes all changes that the leader has proposed. Then applies
 * the request to this tree, or refuses it. Either way, the result is a
 * transaction. */
#ifndef ZKLOCK_VIRTUAL_PREPARE_H
#define ZKLOCK_VIRTUAL_PREPARE_H

#include "txn.h"

#pragma GCC visibility push(hidden)

struct preparation {
  struct tree *tree;
  const struct acl_list *identities;
  int64_t session, zxid, time_ms;
  bool ttl, containers, enforces_quotas, multi_create2;
};

struct txn *prepare_request(const struct preparation *p,
                            const struct zk_request *request);
struct txn *prepare_refusal(const struct preparation *p, enum zk_op op, int rc);
struct txn *prepare_session(const struct preparation *p, int32_t timeout_ms);
struct txn *prepare_end_of_session(const struct preparation *p);
/* Returns the transaction that deletes an unused container or TTL node. Returns
 * NULL if the node has children or does not exist. */
struct txn *prepare_end_of_container(const struct preparation *p,
                                     const char *path);

#pragma GCC visibility pop

#endif
