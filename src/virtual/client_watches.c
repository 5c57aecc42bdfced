/* Records which paths a handle watches. As in the library, the watcher function
 * is called only for events of these paths. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "client_inside.h"

static struct watched **bucket(struct watched_paths *paths, const char *path) {
  uint32_t hash = 2166136261u;
  for (const char *c = path; *c; c++)
    hash = (hash ^ (unsigned char)*c) * 16777619u;
  return &paths->buckets[hash % WATCH_BUCKETS];
}

static struct watched **find(struct watched_paths *paths, const char *path) {
  struct watched **link = bucket(paths, path);
  while (*link && strcmp((*link)->path, path) != 0) link = &(*link)->next;
  return link;
}

void watched_add(struct watched_paths *paths, const char *path, int kinds) {
  struct watched **link = find(paths, path);
  if (!*link) {
    *link = fresh(sizeof **link + strlen(path) + 1);
    strcpy((*link)->path, path);
  }
  (*link)->kinds |= kinds;
}

int watched_find(struct watched_paths *paths, const char *path, int kinds) {
  struct watched **link = find(paths, path);
  return *link ? (*link)->kinds & kinds : 0;
}

void watched_remove(struct watched_paths *paths, const char *path, int kinds) {
  struct watched **link = find(paths, path), *watched = *link;
  if (!watched) return;
  watched->kinds &= ~kinds;
  if (watched->kinds) return;
  *link = watched->next;
  free(watched);
}

void watched_clear(struct watched_paths *paths) {
  for (int i = 0; i < WATCH_BUCKETS; i++)
    while (paths->buckets[i]) {
      struct watched *watched = paths->buckets[i];
      paths->buckets[i] = watched->next;
      free(watched);
    }
}
