#include "room.h"

#include <assert.h>

#include "session.h"

/* On the wire a path has its length before it. */
size_t room_of_path(size_t length) { return 4 + length; }

size_t room_of(const struct lane *lane) {
  return room_of_path(lane->length + 1 + NAME_MAX_OWN);
}

enum room_answer room_for(const struct lane *lane, bool urgent) {
  const struct room *room = &lane->session->room;
  size_t wanted = 3 * room_of(lane); /* its own, and two of others */
  size_t limit = urgent ? ROOM_MAX : ROOM_FOR_ALL;
  if (room->taken + room->promised + wanted <= limit) return ROOM_YES;
  bool soon =
      room->promised > 0 || lane->session->counters.pending_releases > 0;
  return urgent && !soon ? ROOM_NEVER : ROOM_LATER;
}

void room_take(struct session *s, size_t bytes) { s->room.taken += bytes; }

void room_give(struct session *s, size_t bytes) {
  assert(s->room.taken >= bytes);
  s->room.taken -= bytes;
  room_pass_on(s);
}

void room_promise(struct session *s, size_t bytes) {
  s->room.promised += bytes;
}

void room_break_promise(struct session *s, size_t bytes) {
  assert(s->room.promised >= bytes);
  s->room.promised -= bytes;
  room_pass_on(s);
}

void room_wait(struct lane *lane, bool urgent) {
  struct room *room = &lane->session->room;
  lane->urgent = urgent;
  if (lane->crowded) return;
  lane->crowded = true;
  lane->crowded_next = NULL;
  lane->crowded_previous = room->last;
  if (room->last)
    room->last->crowded_next = lane;
  else
    room->first = lane;
  room->last = lane;
}

void room_unwait(struct lane *lane) {
  struct room *room = &lane->session->room;
  if (!lane->crowded) return;
  lane->crowded = false;
  if (lane->crowded_previous)
    lane->crowded_previous->crowded_next = lane->crowded_next;
  else
    room->first = lane->crowded_next;
  if (lane->crowded_next)
    lane->crowded_next->crowded_previous = lane->crowded_previous;
  else
    room->last = lane->crowded_previous;
}

void room_pass_on(struct session *s) {
  for (struct lane *lane = s->room.first; lane; lane = lane->crowded_next) {
    if (room_for(lane, lane->urgent) == ROOM_LATER) continue;
    session_dirty(s, lane);
    return; /* it passes on what it does not need */
  }
}
