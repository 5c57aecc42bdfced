#include "tracker.h"

#include <stdlib.h>
#include <string.h>

#include "agenda.h"
#include "arena.h"

static int place_of(const struct tracker *tracker, int64_t id) {
  int low = 0, high = tracker->count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (tracker->list[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

struct tracked *tracker_find(const struct tracker *tracker, int64_t id) {
  int place = place_of(tracker, id);
  bool found = place < tracker->count && tracker->list[place].id == id;
  return found ? &tracker->list[place] : NULL;
}

struct tracked *tracker_add(struct tracker *tracker, int64_t id,
                            int32_t timeout_ms, int64_t now) {
  struct tracked *session = tracker_find(tracker, id);
  if (!session) {
    int place = place_of(tracker, id);
    tracker->list = with_room(tracker->list, tracker->count, &tracker->room,
                              sizeof *tracker->list);
    session = tracker->list + place;
    memmove(session + 1, session,
            (size_t)(tracker->count - place) * sizeof *session);
    tracker->count++;
    *session = (struct tracked){.id = id, .owner = -1};
  }
  tracker_touch(tracker, session, timeout_ms, now);
  return session;
}

void tracker_remove(struct tracker *tracker, int64_t id) {
  struct tracked *session = tracker_find(tracker, id);
  if (!session) return;
  int place = (int)(session - tracker->list);
  tracker->count--;
  memmove(session, session + 1,
          (size_t)(tracker->count - place) * sizeof *session);
}

void tracker_touch(const struct tracker *tracker, struct tracked *session,
                   int32_t timeout_ms, int64_t now) {
  session->timeout_ms = timeout_ms;
  int64_t end = now - tracker->phase + timeout_ms * INT64_C(1000000);
  session->expires = (end / tracker->tick + 1) * tracker->tick + tracker->phase;
}

int64_t tracker_next(const struct tracker *tracker) {
  int64_t next = NEVER;
  for (int i = 0; i < tracker->count; i++)
    if (tracker->list[i].expires < next) next = tracker->list[i].expires;
  return next;
}

void tracker_clear(struct tracker *tracker) {
  free(tracker->list);
  *tracker = (struct tracker){.list = NULL};
}
