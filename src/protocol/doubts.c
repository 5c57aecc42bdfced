#include "doubts.h"

void doubts_init(struct doubts *doubts) {
  *doubts = (struct doubts){.due = NEVER, .left = DOUBTS_AT_ONCE};
}

void doubts_note(struct contender *c) {
  struct queue *queue = c->queue;
  struct doubts *doubts = &queue->all->doubts;
  bool doubt = c->node.in_doubt;
  c->node.in_doubt = false;
  if (doubt && contender_is_exclusive(c)) queue->beside_in_doubt = true;
  if (!doubt || queue->in_doubt) return;
  queue->in_doubt = true;
  queue->listed_in = doubts->round;
  if (doubts->queues++ == 0)
    doubts->due =
        contender_pipeline(c)->now + contender_pipeline(c)->timeout / 8;
}

void doubts_end(struct queue *queue) {
  struct doubts *doubts = &queue->all->doubts;
  queue->beside_in_doubt = false;
  if (!queue->in_doubt) return;
  queue->in_doubt = false;
  if (--doubts->queues == 0) doubts->due = NEVER;
  directory_wake(&queue->directory); /* the queue may be idle now */
}

int64_t doubts_due(const struct doubts *doubts,
                   const struct pipeline *pipeline) {
  return pipeline->connected ? doubts->due : NEVER;
}

void doubts_begin_turn(struct doubts *doubts, struct pipeline *pipeline) {
  /* The last turn has reached all queues. */
  if (doubts->left > 0) doubts->round++;
  doubts->left = DOUBTS_AT_ONCE;
  doubts->due =
      pipeline->now + pipeline_jitter(pipeline, pipeline->timeout / 4);
}

void doubts_list(struct queue *queue) {
  struct doubts *doubts = &queue->all->doubts;
  if (!queue->in_doubt || queue->listed_in == doubts->round ||
      doubts->left == 0)
    return;
  doubts->left--;
  queue->listed_in = doubts->round;
  directory_list(&queue->directory, 0);
}
