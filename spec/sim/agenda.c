#include "agenda.h"

void agenda_reset(struct agenda *agenda) {
  agenda->order = 0;
  agenda->count = 0;
  agenda->overflowed = false;
}

static bool is_before(const struct happening *a, const struct happening *b) {
  if (a->at != b->at) return a->at < b->at;
  return a->order < b->order;
}

void agenda_add(struct agenda *agenda, int64_t at, int what, int who,
                int which) {
  if (agenda->count == AGENDA_MAX) {
    agenda->overflowed = true;
    return;
  }
  struct happening new = {at, agenda->order++, (int16_t)what, (int16_t)who,
                          which};
  int hole = agenda->count++;
  while (hole > 0) {
    int parent = (hole - 1) / 2;
    if (!is_before(&new, &agenda->heap[parent])) break;
    agenda->heap[hole] = agenda->heap[parent];
    hole = parent;
  }
  agenda->heap[hole] = new;
}

bool agenda_next(struct agenda *agenda, struct happening *next) {
  if (agenda->count == 0) return false;
  *next = agenda->heap[0];
  struct happening last = agenda->heap[--agenda->count];
  int hole = 0;
  for (;;) {
    int child = 2 * hole + 1;
    if (child >= agenda->count) break;
    if (child + 1 < agenda->count &&
        is_before(&agenda->heap[child + 1], &agenda->heap[child]))
      child++;
    if (!is_before(&agenda->heap[child], &last)) break;
    agenda->heap[hole] = agenda->heap[child];
    hole = child;
  }
  agenda->heap[hole] = last;
  return true;
}
