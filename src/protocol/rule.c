#include "rule.h"

#include <string.h>

enum role rule_role(enum kind kind, enum layout layout) {
  bool kazoo = layout == LAYOUT_KAZOO;
  switch (kind) {
    case KIND_READ:
      return kazoo ? ROLE_KAZOO_READ : ROLE_READ;
    case KIND_WRITE:
      return kazoo ? ROLE_KAZOO_LOCK : ROLE_WRITE;
    case KIND_PERMIT:
      return ROLE_PERMIT;
    case KIND_MEMBER:
      return ROLE_MEMBER;
    case KIND_UNFAIR:
      return ROLE_HOLD;
    default:
      return kazoo                    ? ROLE_KAZOO_LOCK
             : layout == LAYOUT_LATCH ? ROLE_LATCH
                                      : ROLE_LOCK;
  }
}

enum role rule_writer(enum role reader) {
  return reader == ROLE_KAZOO_READ ? ROLE_KAZOO_LOCK : ROLE_WRITE;
}

static enum role reader_of(enum role writer) {
  return writer == ROLE_KAZOO_LOCK ? ROLE_KAZOO_READ : ROLE_READ;
}

bool rule_blocks(enum kind kind, const struct entry *own,
                 const struct entry *other) {
  switch (kind) {
    case KIND_READ:
      /* A writer with the same number does not block `own`: that writer
       * downgrades to this reader. */
      return other->role == rule_writer(own->role) &&
             other->sequence < own->sequence;
    case KIND_WRITE:
      return (other->role == own->role ||
              other->role == reader_of(own->role)) &&
             other->sequence < own->sequence;
    default:
      return other->role == own->role;
  }
}

bool rule_is_of_other_kind(enum kind kind, enum layout layout,
                           enum role other) {
  if (other == ROLE_FOREIGN || other == ROLE_PERMIT || other == ROLE_HOLD)
    return false; /* the lock's other nodes show its kind */
  switch (kind) {
    case KIND_UNFAIR:
    case KIND_PERMIT:
      return true;
    case KIND_READ:
    case KIND_WRITE:
      return other != rule_role(KIND_READ, layout) &&
             other != rule_role(KIND_WRITE, layout);
    default:
      return other != rule_role(kind, layout);
  }
}

static enum kind kind_of(enum role role) {
  switch (role) {
    case ROLE_READ:
    case ROLE_KAZOO_READ:
      return KIND_READ;
    case ROLE_WRITE:
    case ROLE_KAZOO_LOCK:
      return KIND_WRITE;
    default:
      return KIND_MUTEX;
  }
}

bool rule_holds(const struct listing *listing, const struct entry *own) {
  /* Members do not block other members. */
  if (own->role == ROLE_MEMBER) return false;
  for (const struct entry *e = own; e > listing->entries;)
    if (rule_blocks(kind_of(own->role), own, --e)) return false;
  return true;
}

/* Returns how many permits exceed the limit. Permits have no order: only their
 * number counts. */
static int too_many(const struct listing *listing, int permits) {
  int taken = 0;
  for (int i = 0; i < listing->count; i++)
    taken += listing->entries[i].role == ROLE_PERMIT;
  return taken > permits ? taken - permits : 0;
}

int rule_members(const struct listing *listing) {
  int members = listing->others;
  for (int i = 0; i < listing->count; i++)
    members += listing->entries[i].role == ROLE_MEMBER;
  return members;
}

bool rule_proves(enum kind kind, const struct entry *own,
                 const struct entry *other) {
  return other && !(kind == KIND_WRITE && other->role == own->role);
}

void rule_apply(enum kind kind, int permits, const struct listing *listing,
                const struct entry *own, struct ahead *ahead) {
  memset(ahead, 0, sizeof *ahead);
  if (kind == KIND_PERMIT) {
    ahead->count = too_many(listing, permits);
    return;
  }
  for (const struct entry *e = own; e > listing->entries;) {
    if (!rule_blocks(kind, own, --e)) continue;
    ahead->count++;
    if (!ahead->nearest)
      ahead->nearest = e;
    else if (!ahead->before)
      ahead->before = e;
  }
  ahead->nearest_proves = rule_proves(kind, own, ahead->nearest);
  ahead->before_proves = rule_proves(kind, own, ahead->before);
}
