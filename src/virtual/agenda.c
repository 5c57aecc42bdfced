#include "agenda.h"

#include <stdbool.h>
#include <stdlib.h>

#include "arena.h"

void alarm_init(struct alarm *alarm, void (*ring)(void *, int64_t),
                void *self) {
  *alarm = (struct alarm){.ring = ring, .self = self, .at = NEVER};
}

static bool precedes(const struct alarm *a, const struct alarm *b) {
  return a->at < b->at || (a->at == b->at && a->order < b->order);
}

static void put(struct agenda *agenda, struct alarm *alarm, int place) {
  agenda->heap[place - 1] = alarm;
  alarm->place = place;
}

static void rise(struct agenda *agenda, struct alarm *alarm) {
  int place = alarm->place;
  for (; place > 1; place /= 2) {
    struct alarm *above = agenda->heap[place / 2 - 1];
    if (!precedes(alarm, above)) break;
    put(agenda, above, place);
  }
  put(agenda, alarm, place);
}

static void sink(struct agenda *agenda, struct alarm *alarm) {
  int place = alarm->place;
  for (;;) {
    int least = 2 * place;
    if (least > agenda->count) break;
    if (least < agenda->count &&
        precedes(agenda->heap[least], agenda->heap[least - 1]))
      least++;
    if (!precedes(agenda->heap[least - 1], alarm)) break;
    put(agenda, agenda->heap[least - 1], place);
    place = least;
  }
  put(agenda, alarm, place);
}

void alarm_stop(struct agenda *agenda, struct alarm *alarm) {
  if (alarm->at == NEVER) return;
  alarm->at = NEVER;
  struct alarm *last = agenda->heap[--agenda->count];
  if (last == alarm) return;
  put(agenda, last, alarm->place);
  rise(agenda, last);
  sink(agenda, last);
}

void alarm_set(struct agenda *agenda, struct alarm *alarm, int64_t at) {
  alarm_stop(agenda, alarm);
  if (at == NEVER) return;
  alarm->at = at;
  alarm->order = agenda->orders++;
  agenda->heap =
      with_room(agenda->heap, agenda->count, &agenda->room, sizeof alarm);
  put(agenda, alarm, ++agenda->count);
  rise(agenda, alarm);
}

int64_t agenda_next(const struct agenda *agenda) {
  return agenda->count ? agenda->heap[0]->at : NEVER;
}

int agenda_step(struct agenda *agenda, int64_t now) {
  if (agenda_next(agenda) > now) return 0;
  struct alarm *alarm = agenda->heap[0];
  int64_t at = alarm->at;
  alarm_stop(agenda, alarm);
  alarm->ring(alarm->self, at);
  return 1;
}

void agenda_free(struct agenda *agenda) { free(agenda->heap); }
