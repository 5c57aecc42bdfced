#include "addresses.h"

#include <stdlib.h>
#include <string.h>

#define MILLISECOND INT64_C(1000000)
#define PAUSE_FIRST (10 * MILLISECOND)
#define PAUSE_LEAST (100 * MILLISECOND) /* lower limit of the longest pause */
#define PAUSE_MAX (2000 * MILLISECOND)

static uint64_t draw(struct addresses *a) {
  a->jitter = a->jitter * UINT64_C(6364136223846793005) + 1;
  return a->jitter >> 33;
}

void addresses_init(struct addresses *a, uint64_t seed) {
  memset(a, 0, sizeof *a);
  a->jitter = seed;
}

void addresses_free(struct addresses *a) {
  free(a->list);
  free(a->texts);
  free(a->source);
}

static int count_of(const char *list) {
  int n = *list != '\0';
  for (; *list; list++) n += *list == ',';
  return n;
}

static void shuffle(struct addresses *a) {
  for (int i = a->count - 1; i > 0; i--) {
    int j = (int)(draw(a) % (uint64_t)(i + 1));
    struct address swap = a->list[i];
    a->list[i] = a->list[j];
    a->list[j] = swap;
  }
}

bool addresses_set(struct addresses *a, const char *list) {
  struct addresses new = {.count = count_of(list), .jitter = a->jitter};
  new.texts = strdup(list);
  new.source = strdup(list);
  new.list = calloc((size_t) new.count + 1, sizeof *new.list);
  if (!new.texts || !new.source || !new.list) {
    addresses_free(&new);
    return false;
  }
  char *rest = new.texts;
  for (int i = 0; i < new.count; i++) {
    char *text = strsep(&rest, ",");
    char *space = strchr(text, ' ');
    if (space) *space = '\0';
    int old = addresses_find(a, text);
    if (old >= 0) new.list[i] = a->list[old];
    new.list[i].text = text;
    new.list[i].names = space ? space + 1 : "";
  }
  shuffle(&new);
  addresses_free(a);
  *a = new;
  return true;
}

int addresses_find(const struct addresses *a, const char *text) {
  for (int i = 0; i < a->count; i++)
    if (strcmp(a->list[i].text, text) == 0) return i;
  return -1;
}

bool addresses_are(const struct addresses *a, const char *list) {
  return a->source && strcmp(a->source, list) == 0;
}

int addresses_take(struct addresses *a, int64_t now) {
  for (int i = 0; i < a->count; i++) {
    int which = (a->next + i) % a->count;
    if (a->list[which].not_before > now) continue;
    a->next = (which + 1) % a->count;
    return which;
  }
  return -1;
}

int64_t addresses_due(const struct addresses *a) {
  int64_t due = INT64_MAX;
  for (int i = 0; i < a->count; i++)
    if (a->list[i].not_before < due) due = a->list[i].not_before;
  return due;
}

/* Returns the pause before the next attempt at an address. `failures`: the
 * number of consecutive failures before the current failure. There is no pause
 * after the first failure, because it may be transient. */
static int64_t pause_after(int failures, int64_t longest) {
  if (failures == 0) return 0;
  int64_t pause = PAUSE_FIRST << (failures < 9 ? failures - 1 : 8);
  return pause < longest ? pause : longest;
}

void addresses_failed(struct addresses *a, int which, int64_t now,
                      int64_t timeout) {
  struct address *address = &a->list[which];
  int64_t longest = timeout / 10 < PAUSE_MAX ? timeout / 10 : PAUSE_MAX;
  if (longest < PAUSE_LEAST) longest = PAUSE_LEAST;
  int64_t pause = pause_after(address->failures++, longest);
  /* Adds jitter, so that the clients of a failed server do not all return at
   * once. */
  address->not_before =
      now + pause + (int64_t)(draw(a) % (uint64_t)(pause / 4 + 1));
}

void addresses_served(struct addresses *a, int which) {
  a->list[which].failures = 0;
  a->list[which].not_before = 0;
}

bool addresses_refused(struct addresses *a, int which, bool is_refused) {
  bool all = true;
  a->list[which].is_refused = is_refused;
  for (int i = 0; i < a->count; i++) all = all && a->list[i].is_refused;
  return all;
}
