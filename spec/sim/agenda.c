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
    int parent = (hole - 1) / 4;
    if (!is_before(&new, &agenda->heap[parent])) break;
    agenda->heap[hole] = agenda->heap[parent];
    hole = parent;
  }
  agenda->heap[hole] = new;
}

bool agenda_next(struct agenda *agenda, struct happening *next) {
  if (agenda->count == 0) return false;
  struct happening *heap = agenda->heap;
  *next = heap[0];
  struct happening last = heap[--agenda->count];
  int hole = 0, count = agenda->count;
  for (int child; (child = 4 * hole + 1) < count;) {
    int end = child + 4 < count ? child + 4 : count, first = child;
    for (int i = child + 1; i < end; i++)
      if (is_before(&heap[i], &heap[first])) first = i;
    if (!is_before(&heap[first], &last)) break;
    heap[hole] = heap[first];
    hole = first;
  }
  heap[hole] = last;
  return true;
}
