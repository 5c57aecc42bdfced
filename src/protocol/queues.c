#include "queue.h"

#include <stddef.h>
#include <string.h>

#include "hash.h"

static unsigned bucket_of(const char *path, size_t length) {
  return (unsigned)(hash_text(HASH_BEGIN, path, length) % QUEUES_BUCKETS);
}

/* Returns the queue whose path is the first `length` bytes of `path`; NULL:
 * none. */
static struct queue *find(const struct queues *queues, const char *path,
                          size_t length) {
  struct queue *queue = queues->buckets[bucket_of(path, length)];
  while (queue &&
         (directory_length(&queue->directory) != length ||
          memcmp(directory_path(&queue->directory), path, length) != 0))
    queue = queue->next;
  return queue;
}

static void take_out(struct queues *queues, struct queue *queue) {
  const struct directory *d = &queue->directory;
  struct queue **link =
      &queues->buckets[bucket_of(directory_path(d), directory_length(d))];
  while (*link != queue) link = &(*link)->next;
  *link = queue->next;
  if (queue->newer)
    queue->newer->older = queue->older;
  else
    queues->newest = queue->older;
  if (queue->older) queue->older->newer = queue->newer;
}

static void put_in(struct queues *queues, struct queue *queue) {
  const struct directory *d = &queue->directory;
  struct queue **bucket =
      &queues->buckets[bucket_of(directory_path(d), directory_length(d))];
  queue->next = *bucket;
  *bucket = queue;
  queue->older = queues->newest;
  if (queues->newest) queues->newest->newer = queue;
  queues->newest = queue;
}

static void drop(struct queue *queue) {
  take_out(queue->all->queues, queue);
  queue_free(queue);
}

/* Runs at the end of a batch: flushes a queue, and frees it if it is idle. */
static void flush(struct deferred_call *call) {
  struct queue *queue =
      (struct queue *)((char *)call - offsetof(struct queue, flush));
  queue_flush(queue);
  if (queue_is_idle(queue)) drop(queue);
}

struct queue *queues_get(struct queues *queues, const char *path) {
  struct queue *queue = find(queues, path, strlen(path));
  if (!queue) {
    queue = queue_new(queues->all, path, flush);
    if (!queue) return NULL;
    put_in(queues, queue);
  }
  directory_wake(&queue->directory); /* else the directory is never freed */
  return queue;
}

static struct queue *queue_of(struct contenders *all, const char *path) {
  return queues_get(all->queues, path);
}

void queues_init(struct queues *queues, struct contenders *all) {
  memset(queues, 0, sizeof *queues);
  queues->all = all;
  all->queues = queues;
  all->queue_of = queue_of;
}

void queues_each(struct queues *queues, void (*visit)(struct queue *queue)) {
  for (struct queue *q = queues->newest; q; q = q->older) visit(q);
}

void queues_each_contender(struct queues *queues,
                           void (*visit)(struct contender *c)) {
  for (struct queue *q = queues->newest; q; q = q->older)
    for (struct contender *c = q->first; c; c = c->next) visit(c);
}

/* Passes an event to the queues. Its path may be a directory with a queue, and
 * also a child of another directory with a queue. */
void queues_on_event(struct queues *queues, enum watch_event event,
                     const char *path) {
  struct queue *queue = find(queues, path, strlen(path));
  if (queue && event != WATCH_CHANGED) queue_children_changed(queue);
  const char *slash = strrchr(path, '/');
  if (event == WATCH_CHILDREN || !slash) return;
  queue = find(queues, path, (size_t)(slash - path));
  if (queue) watches_fired(&queue->directory.watches, slash + 1, event);
}

/* The clock. */

void queues_run_timers(struct queues *queues) {
  struct contenders *all = queues->all;
  struct timer *timer;
  while ((timer = timer_pop(&all->timers, all->pipeline->now)))
    acquire_fsm_on_timer((
        struct contender *)((char *)timer - offsetof(struct contender, timer)));
}

/* Returns when holders must watch their nodes. A short hold ends earlier, and
 * so needs no request for the watch. */
static int64_t watch_due(const struct contenders *all) {
  if (!all->pipeline->connected || all->holders == 0) return NEVER;
  return pipeline_after_pause(all->pipeline,
                              all->own_watched_at +
                                  all->pipeline->lease.timeout / 6);
}

void queues_watch_holds(struct queues *queues) {
  struct contenders *all = queues->all;
  if (watch_due(all) > all->pipeline->now) return;
  all->own_watched_at = all->pipeline->now;
  queues_each_contender(queues, acquire_fsm_watch_own);
}

void queues_list_for_late_creates(struct queues *queues) {
  struct contenders *all = queues->all;
  if (late_creates_due(all) > all->pipeline->now) return;
  all->late_list_at = NEVER;
  queues_each(queues, late_creates_list);
}

int64_t queues_due(const struct queues *queues) {
  const struct contenders *all = queues->all;
  return earliest(timers_due(&all->timers),
                  earliest(watch_due(all), late_creates_due(all)));
}

void queues_flush(struct queues *queues) {
  struct contenders *all = queues->all;
  struct pipeline *pipeline = all->pipeline;
  bool waiting = all->quota_first != NULL;
  while (pipeline->step.first || pipeline->batch.first || waiting) {
    deferred_calls_run(&pipeline->step);
    deferred_calls_run(&pipeline->batch);
    waiting = all->quota_first && quota_was_freed(&all->quota) &&
              queue_wake_for_quota(all);
  }
}

void queues_free(struct queues *queues) {
  queues_flush(queues);
  while (queues->newest) drop(queues->newest);
}
