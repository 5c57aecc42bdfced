#include "quota.h"

#include <assert.h>

#include "name.h"

static const size_t limits[] = {800000, 1000000};

/* Counts the node's path, and the four bytes in front of it that contain its
 * length. */
size_t quota_of_node(size_t directory) {
  return 4 + directory + 1 + NAME_MAX_OWN;
}

enum quota_answer quota_ask(const struct quota *quota, size_t bytes,
                            bool urgent, bool leaving) {
  if (quota->taken + bytes <= limits[urgent]) return QUOTA_YES;
  return urgent && !leaving ? QUOTA_NEVER : QUOTA_LATER;
}

void quota_take(struct quota *quota, size_t bytes) { quota->taken += bytes; }

void quota_give(struct quota *quota, size_t bytes) {
  assert(quota->taken >= bytes);
  quota->taken -= bytes;
  quota->freed = true;
}

void quota_pass_on(struct quota *quota) { quota->freed = true; }

bool quota_was_freed(struct quota *quota) {
  bool freed = quota->freed;
  quota->freed = false;
  return freed;
}
