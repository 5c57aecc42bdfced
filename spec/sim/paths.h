/* Paths as small numbers, so that sets of them are bits. */
#ifndef SIM_PATHS_H
#define SIM_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { PATHS_MAX = 1024, PATHS_TEXT = 96 * 1024, PATHS_SLOTS = 4096 };

struct paths {
  int count;
  size_t used; /* of `text` */
  bool overflowed;
  struct {
    uint32_t hash;
    uint32_t length;
    size_t at;
    int slot;
    int parent; /* -1: not asked for yet */
  } entries[PATHS_MAX];
  int16_t slots[PATHS_SLOTS]; /* 0: empty, else a path's number + 1 */
  char text[PATHS_TEXT];
};

struct path_set {
  uint64_t words[PATHS_MAX / 64];
};

void paths_reset(struct paths *paths);
int paths_number(struct paths *paths, const char *text, size_t length);
/* That of a node in a directory. */
int paths_below(struct paths *paths, const char *directory, size_t length,
                const char *name);
/* The directory of a path; "/" for those at the top. */
int paths_parent(struct paths *paths, int path);

static inline const char *paths_text(const struct paths *paths, int path) {
  return paths->text + paths->entries[path].at;
}

/* The last component. */
static inline const char *paths_name(const struct paths *paths, int path) {
  return strrchr(paths_text(paths, path), '/') + 1;
}

static inline void path_set_add(struct path_set *set, int path) {
  set->words[path / 64] |= UINT64_C(1) << (path % 64);
}

static inline void path_set_remove(struct path_set *set, int path) {
  set->words[path / 64] &= ~(UINT64_C(1) << (path % 64));
}

static inline bool path_set_has(const struct path_set *set, int path) {
  return set->words[path / 64] >> (path % 64) & 1;
}

#endif
