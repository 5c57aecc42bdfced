#include "paths.h"

#include <stdio.h>

void paths_reset(struct paths *paths) {
  for (int i = 0; i < paths->count; i++)
    paths->slots[paths->entries[i].slot] = 0;
  paths->count = 0;
  paths->used = 0;
  paths->overflowed = false;
  paths_number(paths, "/", 1); /* always number 0 */
}

/* FNV-1a. */
static uint32_t hash_of(const char *text, size_t length) {
  uint32_t hash = 2166136261u;
  while (length-- > 0) hash = (hash ^ (unsigned char)*text++) * 16777619u;
  return hash;
}

static int add(struct paths *paths, const char *text, size_t length,
               uint32_t hash, int slot) {
  if (paths->count == PATHS_MAX || paths->used + length + 1 > PATHS_TEXT) {
    paths->overflowed = true;
    return 0;
  }
  int path = paths->count++;
  char *copy = paths->text + paths->used;
  memcpy(copy, text, length);
  copy[length] = '\0';
  paths->entries[path].hash = hash;
  paths->entries[path].length = (uint32_t)length;
  paths->entries[path].at = paths->used;
  paths->entries[path].slot = slot;
  paths->entries[path].parent = -1;
  paths->used += length + 1;
  paths->slots[slot] = (int16_t)(path + 1);
  return path;
}

int paths_number(struct paths *paths, const char *text, size_t length) {
  uint32_t hash = hash_of(text, length);
  int slot = (int)(hash % PATHS_SLOTS);
  for (; paths->slots[slot]; slot = (slot + 1) % PATHS_SLOTS) {
    int path = paths->slots[slot] - 1;
    if (paths->entries[path].hash == hash &&
        paths->entries[path].length == length &&
        memcmp(paths_text(paths, path), text, length) == 0)
      return path;
  }
  return add(paths, text, length, hash, slot);
}

int paths_below(struct paths *paths, const char *directory, size_t length,
                const char *name) {
  char text[256];
  int size =
      snprintf(text, sizeof text, "%.*s/%s", (int)length, directory, name);
  return paths_number(paths, text, (size_t)size);
}

int paths_parent(struct paths *paths, int path) {
  const char *text = paths_text(paths, path);
  size_t length = paths->entries[path].length;
  if (paths->entries[path].parent >= 0) return paths->entries[path].parent;
  while (length > 0 && text[length - 1] != '/') length--;
  int parent = paths_number(paths, text, length > 1 ? length - 1 : 1);
  return paths->entries[path].parent = parent;
}
