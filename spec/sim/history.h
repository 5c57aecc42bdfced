/* What the ensemble has agreed on: the log of transactions, and the tree of
 * nodes that follows from it.
 *
 * A server that has applied the first `view` transactions sees the tree as it
 * was then.  Instead of one tree per server there is one whose nodes know by
 * which transaction they were made and by which they went. */
#ifndef SIM_HISTORY_H
#define SIM_HISTORY_H

#include "paths.h"
#include "protocol/name.h"

enum { NODES_MAX = 1024, LOG_MAX = 32768 };
enum { NOBODY = -1, NO_NODE = -1, NOT_YET = INT32_MAX };

enum transaction_kind {
  DID_NOTHING, /* a request that failed: it has its number all the same */
  DID_CREATE,
  DID_REMOVE,
  DID_WRITE,
  DID_OPEN_SESSION,
  DID_CLOSE_SESSION,
};

struct transaction {
  enum transaction_kind kind;
  int node, beside; /* of an unfair lock: its node, and the one beside it */
  int session;
  int request; /* which is answered by it; NOBODY: none */
  int server;  /* that answers it */
  int rc;
  int64_t zxid, at;
};

struct znode {
  int path, parent; /* paths */
  int older;        /* the last node that had this path */
  int sibling;      /* the next older child of the same parent */
  int made, gone;   /* transactions */
  int revoked;      /* the transaction that has asked its owner to let go */
  int session;      /* it is an ephemeral node of; NOBODY: it stays */
  int shut_by;      /* the one client that its ACL lets read; NOBODY: all may */
  int32_t counter;  /* of children made under it */
  int children;     /* now */
  enum role role;   /* of a contender's node, */
  int32_t sequence;
  int order; /* and when it came: a transaction */
  bool container;
  int size;       /* of its data */
  bool by_force;  /* gone by no fault of its owner */
  bool straggled; /* made behind its owner's back */
};

struct history {
  int log_count, node_count;
  int epoch;
  bool overflowed;
  struct transaction log[LOG_MAX];
  struct znode nodes[NODES_MAX];
  int newest[PATHS_MAX];      /* of the nodes of this path */
  int first_child[PATHS_MAX]; /* the youngest that this directory ever had */
  int known_paths;            /* how much of the two arrays is in use */
};

void history_reset(struct history *history);

/* Appends to the log; returns the transaction's number. */
int history_append(struct history *history, enum transaction_kind kind,
                   int node, int session);
/* The tree's side of it. */
int history_create(struct history *history, struct paths *paths, int path,
                   int parent, int session, bool container);
void history_remove(struct history *history, int node, bool by_force);

/* The node of a path as of `view`; NO_NODE: none. */
int history_find(struct history *history, const struct paths *paths, int path,
                 int view);
static inline const struct znode *history_node(const struct history *h,
                                               int node) {
  return node == NO_NODE ? NULL : &h->nodes[node];
}

/* The children that a directory ever had, youngest first. */
#define CHILDREN(child, h, directory)                       \
  const struct znode *child =                               \
      history_node((h), (directory) < (h)->known_paths      \
                            ? (h)->first_child[(directory)] \
                            : NO_NODE);                     \
  child;                                                    \
  child = history_node((h), child->sibling)

/* So many children had been made by then. */
int history_creates(const struct history *h, int path, int view);

static inline bool node_seen(const struct znode *node, int view) {
  return node->made < view && node->gone >= view;
}

static inline bool node_is_there(const struct znode *node) {
  return node->gone == NOT_YET;
}

/* ... if `node` is one. */
static inline bool history_has(const struct history *h, int node) {
  return node != NO_NODE && node_is_there(&h->nodes[node]);
}

/* Does its ACL keep this client from reading it? */
static inline bool node_is_shut_to(const struct znode *node, int client) {
  return node->shut_by != NOBODY && node->shut_by != client;
}

#endif
