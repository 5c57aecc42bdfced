#include "quota.h"

#include <assert.h>

#include "name.h"

static const size_t limits[] = {QUOTA_LIMITS};

/* On the wire a path has its length before it. */
size_t quota_of_path(size_t length) { return 4 + length; }

size_t quota_of_node(size_t directory) {
  return quota_of_path(directory + 1 + NAME_MAX_OWN);
}

size_t quota_of_neighbour(size_t directory) {
  return quota_of_path(directory + 1 + NAME_MAX_USUAL);
}

enum quota_answer quota_ask(const struct quota *quota, size_t directory,
                            bool urgent, bool leaving) {
  size_t wanted = quota_of_node(directory) + 2 * quota_of_neighbour(directory);
  if (quota->taken + quota->promised + wanted <= limits[urgent])
    return QUOTA_YES;
  bool soon = quota->promised > 0 || leaving;
  return urgent && !soon ? QUOTA_NEVER : QUOTA_LATER;
}

void quota_take(struct quota *quota, size_t bytes) { quota->taken += bytes; }

void quota_give(struct quota *quota, size_t bytes) {
  assert(quota->taken >= bytes);
  quota->taken -= bytes;
  quota->freed = true;
}

void quota_promise(struct quota *quota, size_t bytes) {
  quota->promised += bytes;
}

void quota_keep(struct quota *quota, size_t bytes) {
  assert(quota->promised >= bytes);
  quota->promised -= bytes;
  quota->freed = true;
}

void quota_pass_on(struct quota *quota) { quota->freed = true; }

bool quota_was_freed(struct quota *quota) {
  bool freed = quota->freed;
  quota->freed = false;
  return freed;
}
