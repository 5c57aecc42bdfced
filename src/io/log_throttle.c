#include "log_throttle.h"

#include <stddef.h>

#define MINUTE INT64_C(60000000000)

static uint64_t hash_of(const char *text) {
  uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
  for (; *text; text++)
    hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
  return hash ? hash : 1;
}

/* Returns the entry of the message with this hash. If there is none, returns an
 * unused entry. If none is unused, returns the entry of the message that was
 * logged longest ago. */
static struct throttled *find(struct log_throttle *log_throttle,
                              uint64_t hash) {
  struct throttled *oldest = NULL;
  for (int i = 0; i < LOG_THROTTLE_MAX; i++) {
    struct throttled *n = &log_throttle->list[i];
    if (n->hash == hash) return n;
    if (!oldest ||
        (oldest->hash && (!n->hash || n->logged_at < oldest->logged_at)))
      oldest = n;
  }
  return oldest;
}

bool log_throttle_due(struct log_throttle *log_throttle, const char *text,
                      int64_t now, int *since) {
  uint64_t hash = hash_of(text);
  struct throttled *n = find(log_throttle, hash);
  bool known = n->hash == hash;
  *since = known ? n->since : 0;
  if (known && now - n->logged_at < MINUTE) {
    n->since++;
    return false;
  }
  *n = (struct throttled){.hash = hash, .logged_at = now};
  return true;
}
