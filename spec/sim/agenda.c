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
    int parent = (hole - 1) / 4;
    if (key >= agenda->heap[parent].key) break;
    agenda->heap[hole] = agenda->heap[parent];
    hole = parent;
  }
  agenda->heap[hole] = new;
}

/* The first of the children from `child` on, without a guess where it is. */
static int first_child(const struct happening *heap, int child, int count) {
  if (child + 4 <= count) {
    int one = child + (heap[child + 1].key < heap[child].key);
    int other = child + 2 + (heap[child + 3].key < heap[child + 2].key);
    return heap[other].key < heap[one].key ? other : one;
  }
  int first = child;
  for (int i = child + 1; i < count; i++)
    if (heap[i].key < heap[first].key) first = i;
  return first;
}

bool agenda_next(struct agenda *agenda, struct happening *next) {
  if (agenda->count == 0) return false;
  struct happening *heap = agenda->heap;
  *next = heap[0];
  struct happening last = heap[--agenda->count];
  int hole = 0, count = agenda->count;
  for (int child; (child = 4 * hole + 1) < count;) {
    int first = first_child(heap, child, count);
    if (heap[first].key >= last.key) break;
    heap[hole] = heap[first];
    hole = first;
  }
  heap[hole] = last;
  return true;
}
