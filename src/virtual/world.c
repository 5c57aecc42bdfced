#include "world.h"

#include "operator.h"
#include "schedule.h"

enum { ENSEMBLES = 16 };

static struct ensemble *ensembles[ENSEMBLES];
static int count;
static void (*called)(void);

static int64_t next(void *self) {
  int64_t least = INT64_MAX;
  (void)self;
  for (int i = 0; i < count; i++) {
    int64_t due = ensemble_next(ensembles[i]);
    if (due < least) least = due;
  }
  return least;
}

static void run(void *self, int64_t now) {
  (void)self;
  for (int i = 0; i < count; i++) ensemble_run(ensembles[i], now);
  if (called) called();
}

struct ensemble *world_add(const struct ensemble_settings *settings,
                           uint64_t seed) {
  static const struct schedule_device device = {next, run, NULL};
  if (count == ENSEMBLES) return NULL;
  struct ensemble *ensemble = ensemble_new(settings, seed, schedule_now());
  if (!ensemble) return NULL;
  ensembles[count++] = ensemble;
  schedule_attach(&device);
  return ensemble;
}

bool world_remove(struct ensemble *ensemble) {
  int i = 0;
  while (i < count && ensembles[i] != ensemble) i++;
  if (i == count || !ensemble_is_left(ensemble)) return false;
  for (count--; i < count; i++) ensembles[i] = ensembles[i + 1];
  ensemble_free(ensemble);
  return true;
}

struct ensemble *world_find(const char *address) {
  for (int i = 0; i < count; i++)
    if (link_find(ensembles[i], address)) return ensembles[i];
  return NULL;
}

void world_call(void (*function)(void)) { called = function; }
