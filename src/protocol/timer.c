#include "timer.h"

#include <stddef.h>

void timer_init(struct timer *timer) {
  timer->due = NEVER;
  timer->child = timer->next = NULL;
  timer->link = NULL;
}

static void set_link(struct timer **link, struct timer *timer) {
  *link = timer;
  if (timer) timer->link = link;
}

/* Merges two heaps without siblings. */
static struct timer *meld(struct timer *a, struct timer *b) {
  if (!a) return b;
  if (!b) return a;
  if (b->due < a->due) {
    struct timer *swap = a;
    a = b;
    b = swap;
  }
  set_link(&b->next, a->child);
  set_link(&a->child, b);
  return a;
}

/* Merges a list of sibling heaps: first in pairs from the left, then all into
 * one heap. */
static struct timer *meld_siblings(struct timer *first) {
  struct timer *pairs = NULL;
  while (first) {
    struct timer *a = first, *b = a->next;
    first = b ? b->next : NULL;
    a->next = NULL;
    if (b) b->next = NULL;
    a = meld(a, b);
    a->next = pairs;
    pairs = a;
  }
  struct timer *heap = NULL;
  while (pairs) {
    struct timer *next = pairs->next;
    pairs->next = NULL;
    heap = meld(heap, pairs);
    pairs = next;
  }
  return heap;
}

static void detach(struct timer *timer, struct timers *timers) {
  struct timer **link = timer->link;
  set_link(link, timer->next);
  struct timer *rest = meld_siblings(timer->child);
  timer_init(timer);
  struct timer *root = timers->root;
  if (rest) set_link(&timers->root, meld(root, rest));
}

void timer_set(struct timers *timers, struct timer *timer, int64_t due) {
  if (timer->link) {
    if (timer->due == due) return;
    detach(timer, timers);
  }
  if (due == NEVER) return;
  timer->due = due;
  set_link(&timers->root, meld(timers->root, timer));
}

int64_t timers_due(const struct timers *timers) {
  return timers->root ? timers->root->due : NEVER;
}

struct timer *timer_pop(struct timers *timers, int64_t now) {
  struct timer *first = timers->root;
  if (!first || first->due > now) return NULL;
  detach(first, timers);
  return first;
}
