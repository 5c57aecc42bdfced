/* An agenda is a set of alarms. It calls each alarm's function at the alarm's
 * time. Alarms of the same time are called in the order in which they were
 * set. */
#ifndef ZKLOCK_VIRTUAL_AGENDA_H
#define ZKLOCK_VIRTUAL_AGENDA_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

#define NEVER INT64_MAX

struct alarm {
  void (*ring)(void *self, int64_t now);
  void *self;
  int64_t at; /* NEVER if the alarm is not set */
  uint64_t order;
  int place; /* position in the heap of the agenda, from 1 */
};

struct agenda {
  struct alarm **heap;
  int count, room;
  uint64_t orders;
};

void alarm_init(struct alarm *alarm, void (*ring)(void *, int64_t), void *self);
/* Sets the alarm to the time `at`, even if it is already set. NEVER stops the
 * alarm. */
void alarm_set(struct agenda *agenda, struct alarm *alarm, int64_t at);
void alarm_stop(struct agenda *agenda, struct alarm *alarm);

int64_t agenda_next(const struct agenda *agenda);
/* Calls the function of the next alarm and returns 1, if that alarm is due.
 * Otherwise returns 0. */
int agenda_step(struct agenda *agenda, int64_t now);
void agenda_free(struct agenda *agenda);

#pragma GCC visibility pop

#endif
