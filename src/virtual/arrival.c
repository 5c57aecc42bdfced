#include "arrival.h"

#include <stdlib.h>

#include "arena.h"

void arrivals_init(struct arrivals *arrivals) {
  arrivals->first = NULL;
  arrivals->end = &arrivals->first;
}

void arrivals_append(struct arrivals *arrivals, struct arrival *arrival) {
  *arrivals->end = arrival;
  arrivals->end = &arrival->next;
}

struct arrival *arrivals_take(struct arrivals *arrivals) {
  struct arrival *arrival = arrivals->first;
  if (!arrival) return NULL;
  arrivals->first = arrival->next;
  if (!arrivals->first) arrivals->end = &arrivals->first;
  return arrival;
}

void arrivals_clear(struct arrivals *arrivals) {
  struct arrival *arrival;
  while ((arrival = arrivals_take(arrivals))) arrival_free(arrival);
}

static struct arrival *arrival_new(int kind) {
  struct arrival *arrival = fresh(sizeof *arrival);
  arrival->kind = kind;
  return arrival;
}

struct arrival *arrival_of_acceptance(void) {
  return arrival_new(ARRIVAL_ACCEPTED);
}

struct arrival *arrival_of_session(const struct zk_session *session) {
  struct arrival *arrival = arrival_new(ARRIVAL_CONNECTED);
  arrival->session = *session;
  return arrival;
}

struct arrival *arrival_of_end(enum zk_end end) {
  struct arrival *arrival = arrival_new(ARRIVAL_END);
  arrival->end = end;
  return arrival;
}

struct arrival *arrival_of_event(const struct zk_event *event) {
  struct arrival *arrival = arrival_new(ARRIVAL_EVENT);
  arrival->arena = arena_new();
  arrival->event = *event;
  arrival->event.path = arena_text(arrival->arena, event->path);
  return arrival;
}

static struct zk_acls copy_acls(struct arena *arena,
                                const struct zk_acls *from) {
  if (!from->list || from->count < 0) return *from;
  struct zk_acl *list =
      arena_alloc(arena, (size_t)(from->count + 1) * sizeof *list);
  for (int i = 0; i < from->count; i++)
    list[i] = (struct zk_acl){from->list[i].perms,
                              arena_text(arena, from->list[i].scheme),
                              arena_text(arena, from->list[i].id)};
  return (struct zk_acls){from->count, list};
}

static void copy(struct arena *arena, struct zk_reply *to,
                 const struct zk_reply *from) {
  *to = *from;
  if (from->path) to->path = arena_text(arena, from->path);
  if (from->data.bytes && from->data.length > 0)
    to->data.bytes =
        arena_bytes(arena, from->data.bytes, (size_t)from->data.length);
  if (from->names.list) {
    const char **names =
        arena_alloc(arena, (size_t)(from->names.count + 1) * sizeof *names);
    for (int i = 0; i < from->names.count; i++)
      names[i] = arena_text(arena, from->names.list[i]);
    to->names.list = names;
  }
  to->acls = copy_acls(arena, &from->acls);
  if (!from->parts) return;
  struct zk_reply *parts =
      arena_alloc(arena, (size_t)(from->part_count + 1) * sizeof *parts);
  for (int i = 0; i < from->part_count; i++)
    copy(arena, &parts[i], &from->parts[i]);
  to->parts = parts;
}

struct arrival *arrival_of_reply(const struct zk_reply *reply) {
  struct arrival *arrival = arrival_new(ARRIVAL_REPLY);
  arrival->arena = arena_new();
  copy(arrival->arena, &arrival->reply, reply);
  return arrival;
}

void arrival_free(struct arrival *arrival) {
  arena_free(arrival->arena);
  free(arrival);
}
