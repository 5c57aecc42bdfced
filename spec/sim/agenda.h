/* Virtual time: what will happen, and when.  A heap; happenings of the
 * same instant take place in the order in which they were arranged, so that
 * whoever arranges them with growing times has a first-in, first-out line. */
#ifndef SIM_AGENDA_H
#define SIM_AGENDA_H

#include <stdbool.h>
#include <stdint.h>

enum { AGENDA_MAX = 4096 };

/* In the order of `key`: the time, and then when it was added. */
struct happening {
  uint64_t key;
  int16_t what, who;
  int32_t which;
};

enum { AGENDA_ORDER_BITS = 20 };

static inline int64_t happens_at(const struct happening *h) {
  return (int64_t)(h->key >> AGENDA_ORDER_BITS);
}

struct agenda {
  uint32_t order;
  int count;
  bool overflowed;
  struct happening heap[AGENDA_MAX];
};

void agenda_reset(struct agenda *agenda);
void agenda_add(struct agenda *agenda, int64_t at, int what, int who,
                int which);
/* False: nothing is left to happen. */
bool agenda_next(struct agenda *agenda, struct happening *next);

#endif
