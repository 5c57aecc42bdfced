/* Node names: how a contender is spelled, and how the children of a lock's
 * directory are read.  Knows nothing else. */
#ifndef ZKLOCK_NAME_H
#define ZKLOCK_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* `_c_` + a 36 character uuid + the longest marker + eleven characters of
 * sequence number + NUL, rounded up. */
enum { NAME_MAX_OWN = 64 };

/* The one node of an unfair lock. */
#define NAME_UNFAIR "holder"

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
};

struct entry {
  const char *name; /* inside the listing's own memory */
  int32_t sequence;
  enum role role;
  bool unowned; /* it is known that no session owns it: nobody's contender */
};

/* The contenders among the children of one directory, in order of arrival. */
struct listing {
  int count;
  bool wrapped; /* some numbers are negative: see below */
  struct entry entries[];
};

/* What every name that one session makes begins with: `_c_` and the random
 * part of a version 4 uuid; or, as kazoo spells it, that part alone without
 * dashes.  The last twelve digits of the uuid count the session's nodes, so
 * each node of ours can be told from all others. */
struct name_base {
  char text[28];
  char plain[21];
};

/* What asks a holder to let go: Curator's Revoker writes the first in place of
 * the data of the holder's node, we append the second to them. */
#define REVOKE_CURATOR "__REVOKE__"
#define REVOKE_MARK "\nzklock:revoke"

bool data_is_revoked(const char *data, size_t size);
/* How much of the data is the holder's own. */
size_t data_own_size(const char *data, size_t size);

void name_base_init(struct name_base *base, const unsigned char random[16]);

/* Writes `_c_<uuid>-lock-`, or what `role` is spelled like, for the node
 * numbered `id`. */
void name_format(char *out, size_t size, const struct name_base *base,
                 uint64_t id, enum role role);

/* Reads a child's name; ROLE_FOREIGN for whatever is no contender. */
enum role name_parse(const char *name, int32_t *sequence);

/* The id of a node that this base has made; false for everybody else's. */
bool name_id(const char *name, const struct name_base *base, uint64_t *id);

/* Copies the contenders out of `names` and sorts them; NULL: no memory.
 *
 * ZooKeeper's counter is an int32 that sticks at its largest value (or, for
 * creates in one batch, goes on at the smallest).  Near that end two nodes
 * may share a number, or a younger one have a smaller number than an older
 * one. */
struct listing *listing_new(const char *const *names, int count);
/* Do the numbers tell who is ahead of `own`, one of the entries?  If not, the one
 * that shows it, perhaps `own` itself; else NULL. */
const struct entry *listing_disorder(const struct listing *listing,
                                     const struct entry *own);
void listing_free(struct listing *listing);

const struct entry *listing_find(const struct listing *listing,
                                 const char *name);
/* It is known that no session owns this one. */
void listing_disown(struct listing *listing, const char *name);
const struct entry *listing_find_id(const struct listing *listing,
                                    const struct name_base *base, uint64_t id);

#pragma GCC visibility pop

#endif
