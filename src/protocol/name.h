/* Node names: how a contender's name is written, and how the children of a
 * lock's directory are parsed. */
#ifndef ZKLOCK_NAME_H
#define ZKLOCK_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* A node name of zklock is `<base><id>-lock-NNNNNNNNNN`, mostly 22 bytes. Names
 * are short, because lists of names are the main cost of a long queue.
 *
 * A name is only a *hint*. The node's owner, a ZooKeeper session id, is the
 * proof: an id is never reused, and a node's owner never changes. The name only
 * helps to find the few children whose owners zklock must read. zklock reads
 * owners when a create's reply was lost, and when a list can show an orphan of
 * this session. So zklock never deletes a node, or treats it as its own, by its
 * name alone. If two sessions have the same base, zklock reads a few owners
 * more. Nothing else happens.
 *
 * The base has five characters from an alphabet of 62. Each session object
 * draws its base once from the system's entropy, not from time, process or
 * machine. Two sessions have the same base with a chance of 1 in 916 million,
 * even in one process or forked processes. Among a thousand sessions on one
 * path, the chance that any two have the same base is 1 in 1800. The id is the
 * session's counter of nodes, written in the same alphabet. So zklock mistakes
 * no node of a session for an earlier one.
 *
 * Other clients find the marker and the final number behind a prefix of any
 * length. Curator and go-zookeeper search for the last `lock-`, kazoo for
 * `-lock-` or `__lock__` and ten digits. Exception: a name that begins with
 * `_c_` must have 35 bytes or more: go-zookeeper cuts out a guid without a
 * length check.
 *
 * Curator, go-zookeeper and kazoo find their own lost nodes by guids of 32 or
 * more digits that begin a name. They cannot match a name of zklock: its base
 * has no `_`, and base and id are shorter. */
enum {
  NAME_BASE = 5,
  NAME_ID_MAX = 11, /* the number of letters of the largest id */
  /* The size of zklock's longest name: with the longest marker, a number of
   * eleven bytes, and NUL. */
  NAME_MAX_OWN = 40,
  /* The longest usual name of other clients, with NUL: Curator's. */
  NAME_MAX_USUAL = 64
};

/* The first of the last 65 536 sequence numbers. From here on, the numbers do
 * not reliably show the order of the nodes (listing_new). */
#define SEQUENCE_DANGER (INT32_MAX - 65535)

/* The name of the node that the holder of an unfair lock has created. */
#define NAME_UNFAIR "holder"

/* The child of a double barrier's directory that lets the members in. */
#define NAME_READY "ready"

/* The two directories of a semaphore, below its path. */
#define LOCKS "/locks"
#define PERMITS "/leases"

/* The role of a child of a lock's directory, by the marker in its name. */
enum role {
  ROLE_FOREIGN,
  ROLE_LOCK,
  ROLE_READ,
  ROLE_WRITE,
  ROLE_PERMIT,
  ROLE_KAZOO_LOCK, /* a node of kazoo's Lock or WriteLock */
  ROLE_KAZOO_READ,
  ROLE_LATCH,  /* a node of Curator's LeaderLatch */
  ROLE_MEMBER, /* the node of a member of a double barrier */
  ROLE_HOLD,   /* an unfair lock's node beside `holder` */
};

struct entry {
  const char *name; /* a pointer into the listing's memory */
  int32_t sequence;
  enum role role;
};

/* The children of a directory: only the contenders, in order of arrival
 * (listing_new), or all of them, in order of their names
 * (listing_new_of_all). */
struct listing {
  int count;
  int others;       /* number of other children, except NAME_READY */
  int creates;      /* OP_NAMES: number of children created so far */
  bool has_holder;  /* NAME_UNFAIR is a child */
  bool has_permits; /* a semaphore's directory of permits is a child */
  bool wrapped;     /* some numbers are negative: see listing_new */
  struct entry entries[];
};

/* The prefix of the names of all nodes of one session. */
struct name_base {
  char text[NAME_BASE + 1];
};

/* The data that ask a holder to release the lock. Curator's Revoker replaces
 * the data of the holder's node by REVOKE_CURATOR. zklock appends REVOKE_MARK
 * to the data. */
#define REVOKE_CURATOR "__REVOKE__"
#define REVOKE_MARK "\nzklock:revoke"

/* Returns how many bytes of the data the holder has written itself. If they are
 * fewer than `size`, the data ask the holder to release the lock. */
size_t data_own_size(const char *data, size_t size);

/* Draws a base from the last five of the random bytes. */
void name_base_init(struct name_base *base, const unsigned char random[16]);

/* Writes to `out` the name of the node with this id: `<base><id>`, then the
 * marker of `role`, such as `-lock-`. The server appends the sequence
 * number. */
void name_format(char *out, size_t size, const struct name_base *base,
                 uint64_t id, enum role role);

/* Returns the role of a child by its name, and sets `*sequence` to its number.
 * Returns ROLE_FOREIGN if the name is not a contender's. */
enum role name_parse(const char *name, int32_t *sequence);

/* Returns whether a session with this base may have created the node. If so,
 * sets `*id` to the id in its name. Only the node's owner proves that the
 * session has created it. */
bool name_id(const char *name, const struct name_base *base, uint64_t *id);

/* Returns the contenders among `names`, copied and sorted by their numbers;
 * NULL: no memory.
 *
 * ZooKeeper's counter is an int32. At its largest value it stays there or, for
 * creates in one batch, continues at the smallest. Near that end, two nodes may
 * share a number. Or a newer node may have a smaller number than an older
 * one. */
struct listing *listing_new(const char *const *names, int count);
/* Returns all names, copied and sorted by name, without parsing them; NULL: no
 * memory. */
struct listing *listing_new_of_all(const char *const *names, int count);
/* Returns whether the sequence numbers are too unreliable to show which entries
 * are ahead of `own` (listing_new). */
bool listing_is_disordered(const struct listing *listing,
                           const struct entry *own);
void listing_free(struct listing *listing);

const struct entry *listing_find(const struct listing *listing,
                                 const char *name);
/* Returns whether the list has an entry of this role that a session with this
 * base may have created. */
bool listing_has_own(const struct listing *listing,
                     const struct name_base *base, enum role role);
/* Returns the first entry of this role that may be this session's node with the
 * id `id`. If `after` is not "", only entries behind that name count. */
const struct entry *listing_find_id(const struct listing *listing,
                                    const struct name_base *base, uint64_t id,
                                    enum role role, const char *after);

#pragma GCC visibility pop

#endif
