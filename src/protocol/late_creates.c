#include "late_creates.h"

void late_creates_init(struct late_creates *late) {
  *late =
      (struct late_creates){.due = NEVER, .lists_left = LATE_CREATES_AT_ONCE};
}

void late_creates_expect(struct contender *c) {
  struct queue *queue = c->queue;
  struct late_creates *late = &queue->all->late_creates;
  bool unconfirmed = c->node.unconfirmed;
  c->node.unconfirmed = false;
  if (unconfirmed && contender_is_exclusive(c))
    queue->late_holder_possible = true;
  if (!unconfirmed || queue->late_create_possible) return;
  queue->late_create_possible = true;
  queue->listed_in = late->cycle;
  if (late->queues++ == 0)
    late->due = contender_pipeline(c)->now + contender_pipeline(c)->timeout / 8;
}

void late_creates_end(struct queue *queue) {
  struct late_creates *late = &queue->all->late_creates;
  queue->late_holder_possible = false;
  if (!queue->late_create_possible) return;
  queue->late_create_possible = false;
  if (--late->queues == 0) late->due = NEVER;
  directory_wake(&queue->directory); /* the queue may be idle now */
}

int64_t late_creates_due(const struct late_creates *late,
                         const struct pipeline *pipeline) {
  return pipeline->connected ? late->due : NEVER;
}

void late_creates_begin_turn(struct late_creates *late,
                             struct pipeline *pipeline) {
  /* If the previous turn had lists to spare, it listed every due directory.
   * Then a new cycle begins, in which each directory is due again. */
  if (late->lists_left > 0) late->cycle++;
  late->lists_left = LATE_CREATES_AT_ONCE;
  late->due = pipeline->now + pipeline_jitter(pipeline, pipeline->timeout / 4);
}

void late_creates_list(struct queue *queue) {
  struct late_creates *late = &queue->all->late_creates;
  if (!queue->late_create_possible || queue->listed_in == late->cycle ||
      late->lists_left == 0)
    return;
  late->lists_left--;
  queue->listed_in = late->cycle;
  directory_list(&queue->directory, 0);
}
