#include "hindrance.h"

#include <string.h>

#include "hash.h"

static uint64_t hash_of(const char *path, const char *name) {
  uint64_t hash = hash_text(HASH_BEGIN, path, strlen(path));
  return hash_text(hash_text(hash, "/", 1), name, strlen(name));
}

/* Its place among those of its row; or that of the oldest there. */
struct hindrance *hindrance_find(struct hindrances *hindrances,
                                 const char *path, const char *name,
                                 int64_t since) {
  uint64_t hash = hash_of(path, name);
  struct hindrance *row = hindrances->rows[hash % HINDRANCE_ROWS];
  struct hindrance *oldest = row;
  for (int i = 0; i < HINDRANCES_IN_ROW; i++) {
    if (row[i].hash == hash) return &row[i];
    if (row[i].since < oldest->since) oldest = &row[i];
  }
  *oldest = (struct hindrance){.hash = hash, .since = since};
  return oldest;
}
