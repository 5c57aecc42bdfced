#include "agenda.h"

void agenda_reset(struct agenda *agenda) {
  agenda->order = 0;
  agenda->count = 0;
  agenda->overflowed = false;
}

void agenda_add(struct agenda *agenda, int64_t at, int what, int who,
                int which) {
  if (agenda->count == AGENDA_MAX || agenda->order >> AGENDA_ORDER_BITS ||
      at >> (63 - AGENDA_ORDER_BITS)) {
    agenda->overflowed = true;
    return;
  }
  uint64_t key = (uint64_t)at << AGENDA_ORDER_BITS | agenda->order++;
  struct happening new = {key, (int16_t)what, (int16_t)who, which};
  int hole = agenda->count++;
  while (hole > 0) {
    int parent = (hole - 1) / 2;
    if (key >= agenda->heap[parent].key) break;
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
  for (int first; (first = 2 * hole + 1) < count;) {
    if (first + 1 < count && heap[first + 1].key < heap[first].key) first++;
    if (heap[first].key >= last.key) break;
    heap[hole] = heap[first];
    hole = first;
  }
  heap[hole] = last;
  return true;
}
