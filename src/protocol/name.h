/* Node names: how a contender is spelled, and how the children of a lock's
 * directory are read.  Knows nothing else. */
#ifndef ZKLOCK_NAME_H
#define ZKLOCK_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* A name of ours: `<base><id>-lock-NNNNNNNNNN`, 22 bytes mostly.  Names are
 * what lists are made of, and lists are what a long queue costs: so they are as
 * short as their purpose allows.
 *
 * They are *hints*.  A node's owner, the id of a ZooKeeper session, proves whose
 * it is; that id is never given twice, and whose a node is never changes.  All
 * that a name is for is to find, among the children of a directory, the few of
 * which it is worth asking: after a create whose answer was lost, and where a
 * list shows what may be a node of ours that nobody knows.  So nothing is
 * deleted or taken for ours by its name alone, and if two sessions happen to
 * have the same base this costs a question now and then, and nothing else.
 *
 * The base is five of 62 letters, drawn once for each session object from the
 * system's entropy: not from the time, the process or the machine, so that two
 * of one process, or a fork's child, are as likely to share one as any two: 1 in
 * 916 million.  Among a thousand sessions on one path it is 1 in 1800 that any
 * two do.  The id behind it counts the session's nodes, in as many of the same
 * letters as it needs: no two nodes of a session have the same, so no node of
 * ours is mistaken for an earlier one.
 *
 * The other clients find the marker, and the number at the end, wherever they
 * are (Curator and go-zookeeper look for the last `lock-`, kazoo for `-lock-`
 * or `__lock__` and ten digits), and depend on no length before it.  Only what
 * begins with `_c_` has to be 35 bytes long at least, for go-zookeeper cuts a
 * guid out of it without a look; and Curator, go-zookeeper and kazoo look for
 * *their* lost nodes by guids at the beginning of a name: 32 digits or more.
 * None of them can find ours there, for no base has a `_`, and no base with its
 * id is as long. */
enum {
  NAME_BASE = 5,
  NAME_ID_MAX = 11,   /* letters of the largest id */
  NAME_MAX_OWN = 40,  /* the longest marker, a number of eleven bytes, NUL */
  NAME_MAX_USUAL = 64 /* the same of other clients: Curator's are the longest */
};

/* From this number on, the last 65 536, numbers do not tell who is ahead. */
#define SEQUENCE_DANGER (INT32_MAX - 65535)

/* The node of an unfair lock that all make, one at a time. */
#define NAME_UNFAIR "holder"

/* What lets the members of a double barrier in, a child of its directory. */
#define NAME_READY "ready"

/* A semaphore's two directories, below its path. */
#define LOCKS "/locks"
#define PERMITS "/leases"

/* What a child of a lock's directory is, by the marker in its name. */
enum role {
  ROLE_FOREIGN,
  ROLE_LOCK,
  ROLE_READ,
  ROLE_WRITE,
  ROLE_PERMIT,
  ROLE_KAZOO_LOCK, /* kazoo's Lock and WriteLock */
  ROLE_KAZOO_READ,
  ROLE_LATCH,  /* Curator's LeaderLatch */
  ROLE_MEMBER, /* of a double barrier */
  ROLE_HOLD,   /* beside an unfair lock's node: no contender by itself */
};

struct entry {
  const char *name; /* inside the listing's own memory */
  int32_t sequence;
  enum role role;
};

/* The contenders among the children of one directory, in order of arrival; or
 * all children, in order of their names. */
struct listing {
  int count;
  int others;  /* so many children were left out, NAME_READY not among them */
  int creates; /* OP_NAMES: how many children the directory has had by then */
  bool has_holder;  /* one of these is NAME_UNFAIR, ... */
  bool has_permits; /* ... one a semaphore's directory of permits */
  bool wrapped;     /* some numbers are negative: see below */
  struct entry entries[];
};

/* What every name that one session makes begins with: see above. */
struct name_base {
  char text[NAME_BASE + 1];
};

/* What asks a holder to let go: Curator's Revoker writes the first in place of
 * the data of the holder's node, we append the second to them. */
#define REVOKE_CURATOR "__REVOKE__"
#define REVOKE_MARK "\nzklock:revoke"

/* How much of the data is the holder's own; less than all: they ask it. */
size_t data_own_size(const char *data, size_t size);

/* (The last five of the random bytes.) */
void name_base_init(struct name_base *base, const unsigned char random[16]);

/* Writes `<base><id>-lock-`, or what `role` is spelled like, for the node
 * numbered `id`. */
void name_format(char *out, size_t size, const struct name_base *base,
                 uint64_t id, enum role role);

/* Reads a child's name; ROLE_FOREIGN for whatever is no contender. */
enum role name_parse(const char *name, int32_t *sequence);

/* The id in a name that a session of this base may have made; false for all
 * others.  (Whose it is, its owner tells.) */
bool name_id(const char *name, const struct name_base *base, uint64_t *id);

/* Copies the contenders out of `names` and sorts them; NULL: no memory.
 *
 * ZooKeeper's counter is an int32 that sticks at its largest value (or, for
 * creates in one batch, goes on at the smallest).  Near that end two nodes
 * may share a number, or a younger one have a smaller number than an older
 * one. */
struct listing *listing_new(const char *const *names, int count);
/* The same of all names, of which nothing else is told. */
struct listing *listing_new_of_all(const char *const *names, int count);
/* Do the numbers not tell who is ahead of `own`, one of the entries? */
bool listing_is_disordered(const struct listing *listing,
                           const struct entry *own);
void listing_free(struct listing *listing);

const struct entry *listing_find(const struct listing *listing,
                                 const char *name);
/* Any of this role that a session of this base may have made? */
bool listing_has_own(const struct listing *listing,
                     const struct name_base *base, enum role role);
/* The first of this role that may be the node numbered `id`, behind the place of
 * the name `after` unless that is "". */
const struct entry *listing_find_id(const struct listing *listing,
                                    const struct name_base *base, uint64_t id,
                                    enum role role, const char *after);

#pragma GCC visibility pop

#endif
