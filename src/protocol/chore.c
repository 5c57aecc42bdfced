#include "chore.h"

#include <stddef.h>

void chores_init(struct chores *chores) {
  chores->first = NULL;
  chores->end = &chores->first;
}

void chore_add(struct chores *chores, struct chore *chore) {
  if (chore->waits) return;
  chore->waits = true;
  chore->next = NULL;
  *chores->end = chore;
  chores->end = &chore->next;
}

void chores_do(struct chores *chores) {
  while (chores->first) {
    struct chore *chore = chores->first;
    chores->first = chore->next;
    if (!chores->first) chores->end = &chores->first;
    chore->waits = false;
    chore->run(chore);
  }
}
