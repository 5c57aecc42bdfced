#include "chore.h"

#include <stddef.h>

void chores_init(struct chores *chores) {
  chores->first = NULL;
  chores->end = &chores->first;
}

void chore_add(struct chores *chores, struct chore *chore) {
  if (chore_waits(chore)) return;
  chore->next = chore;
  *chores->end = chore;
  chores->end = &chore->next;
}

void chores_do(struct chores *chores) {
  while (chores->first) {
    struct chore *chore = chores->first;
    bool last = chore->next == chore;
    chores->first = last ? NULL : chore->next;
    if (last) chores->end = &chores->first;
    chore->next = NULL;
    chore->run(chore);
  }
}
