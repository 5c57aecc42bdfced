#include "rule.h"

#include <string.h>

enum role rule_role(enum kind kind) {
  switch (kind) {
    case KIND_READ:
      return ROLE_READ;
    case KIND_WRITE:
      return ROLE_WRITE;
    case KIND_LEASE:
      return ROLE_LEASE;
    default:
      return ROLE_LOCK;
  }
}

bool rule_blocks(enum kind kind, const struct entry *own,
                 const struct entry *other) {
  switch (kind) {
    case KIND_READ:
      /* A writer of our own number is the one that we have downgraded. */
      return other->role == ROLE_WRITE && other->sequence < own->sequence;
    case KIND_WRITE:
      return (other->role == ROLE_READ || other->role == ROLE_WRITE) &&
             other->sequence < own->sequence;
    default:
      return other->role == ROLE_LOCK;
  }
}

/* Leases are not ordered: they are counted. */
static int too_many(const struct listing *listing, int permits) {
  int leases = 0;
  for (int i = 0; i < listing->count; i++)
    leases += listing->entries[i].role == ROLE_LEASE;
  return leases > permits ? leases - permits : 0;
}

static bool proves(enum kind kind, const struct entry *e) {
  return e && !(kind == KIND_WRITE && e->role == ROLE_WRITE);
}

void rule_apply(enum kind kind, int permits, const struct listing *listing,
                const struct entry *own, struct ahead *ahead) {
  memset(ahead, 0, sizeof *ahead);
  if (kind == KIND_LEASE) {
    ahead->count = too_many(listing, permits);
    return;
  }
  for (const struct entry *e = own; e-- > listing->entries;) {
    if (!rule_blocks(kind, own, e)) continue;
    ahead->count++;
    if (!ahead->nearest)
      ahead->nearest = e;
    else if (!ahead->before)
      ahead->before = e;
  }
  ahead->shortcut = proves(kind, ahead->nearest);
  ahead->chain = proves(kind, ahead->before);
}
