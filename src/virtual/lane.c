#include "lane.h"

#include <stdlib.h>

static void arm(struct lane *lane, int64_t now) {
  if (!lane->first || lane->held)
    alarm_stop(lane->agenda, &lane->alarm);
  else
    alarm_set(lane->agenda, &lane->alarm,
              lane->first->at > now ? lane->first->at : now);
}

static void arrive(void *self, int64_t now) {
  struct lane *lane = self;
  struct message *message = lane->first;
  lane->first = message->next;
  if (!lane->first) lane->last = NULL;
  arm(lane, now);
  lane->deliver(lane->self, message, now);
  message_free(message);
}

void lane_init(struct lane *lane, struct agenda *agenda,
               void (*deliver)(void *, struct message *, int64_t), void *self) {
  *lane = (struct lane){.agenda = agenda, .deliver = deliver, .self = self};
  alarm_init(&lane->alarm, arrive, lane);
}

struct message *message_new(int kind) {
  struct message *message = fresh(sizeof *message);
  message->kind = kind;
  return message;
}

void message_free(struct message *message) {
  if (message->drop) message->drop(message->shared);
  arena_free(message->arena);
  free(message);
}

void lane_send(struct lane *lane, struct message *message, int64_t at) {
  if (at < lane->until) at = lane->until;
  lane->until = message->at = at;
  if (lane->last) {
    lane->last = lane->last->next = message;
    return;
  }
  lane->first = lane->last = message;
  arm(lane, at);
}

void lane_send_first(struct lane *lane, struct message *message, int64_t now) {
  message->at = now;
  message->next = lane->first;
  lane->first = message;
  if (!lane->last) lane->last = message;
  arm(lane, now);
}

void lane_hold(struct lane *lane, unsigned why) {
  lane->held |= why;
  arm(lane, 0);
}

void lane_release(struct lane *lane, unsigned why, int64_t now) {
  if (!(lane->held & why)) return;
  lane->held &= ~why;
  arm(lane, now);
}

void lane_clear(struct lane *lane) {
  for (struct message *next, *m = lane->first; m; m = next) {
    next = m->next;
    message_free(m);
  }
  lane->first = lane->last = NULL;
  arm(lane, 0);
}
