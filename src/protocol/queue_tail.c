#include "queue_tail.h"

#include <stdlib.h>
#include <string.h>

static void set_name(char *to, const char *name) {
  memcpy(to, name, strlen(name) + 1);
}

void queue_tail_forget(struct queue_tail *tail) {
  if (tail) tail->seen_in = 0;
}

static void begin(struct queue_tail *tail, unsigned connection, enum kind kind,
                  enum role role) {
  *tail =
      (struct queue_tail){.seen_in = connection, .kind = kind, .role = role};
}

/* Adds an entry to the tail. The caller adds the last entry of the list first.
 * Returns false if another client's name is too long to be stored. */
static bool add(struct queue_tail *tail, const struct entry *e) {
  char *name = tail->length == 0 ? tail->last : tail->before;
  tail->length++;
  if (tail->length > 2) return true;
  if (strlen(e->name) >= NAME_MAX_USUAL) return false;
  set_name(name, e->name);
  return true;
}

void queue_tail_store(struct queue_tail **slot, unsigned connection,
                      enum kind kind, const struct listing *listing,
                      const struct entry *own) {
  const struct entry *last = &listing->entries[listing->count - 1];
  if (last == own) {
    queue_tail_forget(*slot);
    return;
  }
  if (!*slot) *slot = malloc(sizeof **slot);
  if (!*slot) return;
  struct queue_tail *tail = *slot;
  struct entry next = {.role = own->role, .sequence = INT32_MAX};
  begin(tail, connection, kind, own->role);
  tail->number = last->sequence;
  for (const struct entry *e = last; e > own; e--)
    if (rule_blocks(kind, &next, e) && !add(tail, e)) queue_tail_forget(tail);
  if (tail->length == 0) queue_tail_forget(tail);
}

const struct queue_tail *queue_tail_valid_for(const struct queue_tail *tail,
                                              unsigned connection,
                                              enum kind kind, enum role role) {
  bool fits = tail && tail->seen_in == connection && tail->kind == kind &&
              tail->role == role;
  return fits ? tail : NULL;
}

/* Returns -1 also near the end of the sequence counter, because the numbers can
 * wrap around there. */
int queue_tail_gap(const struct queue_tail *tail, const char *name) {
  int32_t number;
  bool behind = name_parse(name, &number) == tail->role &&
                number < SEQUENCE_DANGER && number > tail->number;
  return behind ? number - tail->number - 1 : -1;
}

void queue_tail_append(struct queue_tail *tail, const char *name) {
  struct entry next = {.role = tail->role, .sequence = INT32_MAX}, e;
  if (queue_tail_gap(tail, name) != 0) return;
  tail->number++;
  e = (struct entry){.role = tail->role, .sequence = tail->number};
  if (!rule_blocks(tail->kind, &next, &e)) return;
  set_name(tail->before, tail->last);
  set_name(tail->last, name);
  tail->length++;
}
