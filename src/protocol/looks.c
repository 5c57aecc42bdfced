#include "looks.h"

#include <string.h>

#include "hash.h"

int64_t *looks_find(struct looks *looks, const char *path, int64_t otherwise) {
  uint64_t hash = hash_text(HASH_BEGIN, path, strlen(path));
  struct look_time *row = looks->rows[hash % LOOK_ROWS], *oldest = row;
  for (int i = 0; i < LOOKS_IN_ROW; i++) {
    if (row[i].hash == hash) return &row[i].at;
    if (row[i].at < oldest->at) oldest = &row[i];
  }
  *oldest = (struct look_time){hash, otherwise};
  return &oldest->at;
}
