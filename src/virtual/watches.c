#include "watches.h"

#include <stdlib.h>
#include <string.h>

#include "arena.h"

static int compare(const struct watch_entry *w, const char *path, bool child,
                   uint64_t order) {
  int by_path = strcmp(w->path, path);
  if (by_path) return by_path;
  if (w->child != child) return w->child ? 1 : -1;
  return w->order < order ? -1 : w->order > order;
}

/* Returns the index of the watch with this path, kind and connection number
 * (`order`). If there is none, returns the index at which it would be
 * inserted. */
static int place_of(const struct watches *watches, const char *path, bool child,
                    uint64_t order) {
  int low = 0, high = watches->count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (compare(&watches->list[middle], path, child, order) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void cut_out(struct watches *watches, int from, int to) {
  memmove(watches->list + from, watches->list + to,
          (size_t)(watches->count - to) * sizeof *watches->list);
  watches->count -= to - from;
}

static bool is_at(const struct watches *watches, int place, const char *path,
                  bool child, uint64_t order) {
  return place < watches->count &&
         compare(&watches->list[place], path, child, order) == 0;
}

void watches_add(struct watches *watches, const char *path, bool child,
                 uint64_t order, struct zk_connection *connection) {
  int place = place_of(watches, path, child, order);
  if (is_at(watches, place, path, child, order)) return;
  watches->list = with_room(watches->list, watches->count, &watches->room,
                            sizeof *watches->list);
  memmove(watches->list + place + 1, watches->list + place,
          (size_t)(watches->count - place) * sizeof *watches->list);
  watches->count++;
  watches->list[place] =
      (struct watch_entry){fresh_text(path), child, order, connection};
}

bool watches_remove(struct watches *watches, const char *path, bool child,
                    uint64_t order) {
  int place = place_of(watches, path, child, order);
  if (!is_at(watches, place, path, child, order)) return false;
  free(watches->list[place].path);
  cut_out(watches, place, place + 1);
  return true;
}

void watches_forget(struct watches *watches, uint64_t order) {
  int kept = 0;
  for (int i = 0; i < watches->count; i++) {
    if (watches->list[i].order == order)
      free(watches->list[i].path);
    else
      watches->list[kept++] = watches->list[i];
  }
  watches->count = kept;
}

void watches_clear(struct watches *watches) {
  for (int i = 0; i < watches->count; i++) free(watches->list[i].path);
  free(watches->list);
  *watches = (struct watches){.list = NULL};
}

struct watch_entry *watches_take(struct watches *watches, const char *path,
                                 bool child, int *count) {
  int from = place_of(watches, path, child, 0);
  int to = place_of(watches, path, child, UINT64_MAX);
  *count = to - from;
  if (to == from) return NULL;
  size_t size = (size_t)(to - from) * sizeof *watches->list;
  struct watch_entry *taken = fresh(size);
  memcpy(taken, watches->list + from, size);
  for (int i = from; i < to; i++) free(watches->list[i].path);
  cut_out(watches, from, to);
  return taken;
}

int watches_count(const struct watches *watches, const char *prefix) {
  size_t length = strlen(prefix);
  int count = 0;
  for (int i = 0; i < watches->count; i++)
    count += strncmp(watches->list[i].path, prefix, length) == 0;
  return count;
}
