#include "check_times.h"

#include <string.h>

#include "hash.h"

int64_t *check_times_find(struct check_times *check_times, const char *path,
                          int64_t otherwise) {
  uint64_t hash = hash_text(HASH_BEGIN, path, strlen(path));
  struct check_time *row = check_times->rows[hash % CHECK_TIME_ROWS],
                    *oldest = row;
  for (int i = 0; i < CHECK_TIMES_IN_ROW; i++) {
    if (row[i].hash == hash) return &row[i].at;
    if (row[i].at < oldest->at) oldest = &row[i];
  }
  *oldest = (struct check_time){hash, otherwise};
  return &oldest->at;
}
