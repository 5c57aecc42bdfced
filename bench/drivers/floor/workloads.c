#include "workloads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "loop.h"

#define PATH_SIZE 320
#define DIGITS 10

struct worker {
  struct client *client;
  char base[PATH_SIZE];  // its nodes' path, up to the number
  char node[PATH_SIZE];  // the one that it has
  long sequence;
  bool reading;
  unsigned long random;
  double begun;
  struct worker *next;  // W4: behind it in the queue
};

static struct order order;
static struct worker *workers;
static bool stopping;
static bool held;
static double released_at;
static struct worker *queue, **queue_end;

// ---- Counting ------------------------------------------------------------------

#define BUCKETS 440

static unsigned long buckets[BUCKETS];
static double sample_begun, sample_cpu;

static void count(double latency) {
  double us = latency * 1e6;
  int bucket = us > 1 ? (int)(log(us) / log(1.05)) : 0;
  buckets[bucket < BUCKETS ? bucket : BUCKETS - 1]++;
}

static double cpu_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void begin_sample(void) {
  memset(buckets, 0, sizeof buckets);
  sample_begun = now();
  sample_cpu = cpu_us();
}

void print_sample(void) {
  const char *comma = "";
  int i;
  printf("sample seconds=%.6f cpu_us=%.0f hist=", now() - sample_begun,
         cpu_us() - sample_cpu);
  for (i = 0; i < BUCKETS; i++) {
    if (buckets[i] == 0) continue;
    printf("%s%.2f:%lu", comma, pow(1.05, i), buckets[i]);
    comma = ",";
  }
  puts("");
  begin_sample();
}

// ---- Nodes and orders of the queue -----------------------------------------------

static void expect(const struct reply *reply) {
  if (reply->error != 0) die("the server refuses: %d", reply->error);
}

static long sequence_of(struct span name) {
  char digits[DIGITS + 1];
  if (name.size < DIGITS) return -1;
  memcpy(digits, name.text + name.size - DIGITS, DIGITS);
  digits[DIGITS] = 0;
  return strtol(digits, NULL, 10);
}

static void note_node(struct worker *w, const struct reply *reply) {
  expect(reply);
  if (reply->path.size >= PATH_SIZE) die("a path that is too long");
  memcpy(w->node, reply->path.text, reply->path.size);
  w->node[reply->path.size] = 0;
  w->sequence = sequence_of(reply->path);
}

static bool is_writers(struct span name) { return name.text[0] == 'w'; }

// The one in the list that is nearest before the worker, and blocks it.
static const struct span *blocker(const struct worker *w,
                                  const struct reply *list) {
  const struct span *nearest = NULL;
  size_t i;
  expect(list);
  for (i = 0; i < list->count; i++) {
    const struct span *name = &list->names[i];
    if (w->reading && !is_writers(*name)) continue;
    if (sequence_of(*name) >= w->sequence) continue;
    if (!nearest || sequence_of(*nearest) < sequence_of(*name)) nearest = name;
  }
  return nearest;
}

static void create(struct worker *w, reply_fn *on_created) {
  w->client->kind->create(w->client, w->base, EPHEMERAL_SEQUENTIAL, on_created,
                          w);
}

static void list(struct worker *w, reply_fn *on_listed) {
  char path[PATH_SIZE];
  size_t size = (size_t)(strrchr(w->base, '/') - w->base);
  memcpy(path, w->base, size);
  path[size] = 0;
  w->client->kind->list(w->client, path, on_listed, w);
}

static void leave_node(struct worker *w, reply_fn *on_removed) {
  w->client->kind->remove(w->client, w->node, on_removed, w);
}

// ---- W1, W1p: nobody else ----------------------------------------------------

static void begin_alone(struct worker *w);

static void alone_created(void *context, const struct reply *reply) {
  note_node(context, reply);
}

static void alone_listed(void *context, const struct reply *reply) {
  struct worker *w = context;
  if (blocker(w, reply)) die("somebody else has a node in %s", w->base);
  count(now() - w->begun);
  leave_node(w, NULL);
  if (!stopping) begin_alone(w);
}

static void begin_alone(struct worker *w) {
  w->begun = now();
  create(w, alone_created);
  list(w, alone_listed);
}

// ---- W2: the order is known ----------------------------------------------------
//
// Numbers are given without a gap: before ours stands the one that is less by
// one, or nobody.  When it is gone, it has held the lock, so all before it are.

static void begin_handoffs(struct worker *w);

static void release(void *context) {
  struct worker *w = context;
  held = false;
  released_at = now();
  leave_node(w, NULL);
  if (!stopping) begin_handoffs(w);
}

static void grant(struct worker *w) {
  if (held) die("two hold the lock");
  held = true;
  if (released_at > 0) count(now() - released_at);
  if (order.work_us > 0 && !stopping)
    loop_after((double)order.work_us / 1e6, release, w);
  else
    release(w);
}

// While sessions are closed, nodes go out of their order.
static void come_first(struct worker *w) {
  if (!stopping) grant(w);
}

static void predecessor_gone(void *context) { come_first(context); }

static void predecessor_watched(void *context, const struct reply *reply) {
  if (reply->error == NO_NODE) return come_first(context);
  expect(reply);
}

static void handoff_created(void *context, const struct reply *reply) {
  struct worker *w = context;
  char predecessor[PATH_SIZE + DIGITS];
  note_node(w, reply);
  if (w->sequence == 0) return come_first(w);
  snprintf(predecessor, sizeof predecessor, "%s%0*ld", w->base, DIGITS,
           w->sequence - 1);
  w->client->kind->watch(w->client, predecessor, predecessor_watched, w);
}

static void begin_handoffs(struct worker *w) {
  w->client->on_event = predecessor_gone;
  w->client->context = w;
  create(w, handoff_created);
}

// ---- W3: readers beside each other ---------------------------------------------

static void begin_sharing(struct worker *w);

static void share(struct worker *w) {
  if (stopping) return;
  count(now() - w->begun);
  leave_node(w, NULL);
  begin_sharing(w);
}

static void sharing_listed(void *context, const struct reply *reply);

// The writer before a reader is gone: all before that one are.  Before a writer
// there may be readers still.
static void sharer_gone(void *context) {
  struct worker *w = context;
  if (w->reading)
    share(w);
  else if (!stopping)
    list(w, sharing_listed);
}

static void sharer_watched(void *context, const struct reply *reply) {
  if (reply->error == NO_NODE) return sharer_gone(context);
  expect(reply);
}

static void sharing_listed(void *context, const struct reply *reply) {
  struct worker *w = context;
  const struct span *before = blocker(w, reply);
  char path[PATH_SIZE];
  if (!before) return share(w);
  snprintf(path, sizeof path, "%s/%.*s", order.path, (int)before->size,
           before->text);
  w->client->kind->watch(w->client, path, sharer_watched, w);
}

static void begin_sharing(struct worker *w) {
  w->client->on_event = sharer_gone;
  w->client->context = w;
  w->random = w->random * 16807 % 2147483647;
  w->reading = (long)(w->random % 100) < order.read_percent;
  snprintf(w->base, sizeof w->base, "%s/%c-", order.path,
           w->reading ? 'r' : 'w');
  w->begun = now();
  create(w, alone_created);
  list(w, sharing_listed);
}

// ---- W4: one session knows its own queue ---------------------------------------

static void begin_turns(struct worker *w);

static void take_turn(struct worker *w);

static void turn_removed(void *context, const struct reply *reply) {
  (void)context;
  expect(reply);
  held = false;
  if (queue && !stopping) take_turn(queue);
}

static void take_turn(struct worker *w) {
  if (held) die("two hold the lock");
  held = true;
  if (released_at > 0) count(now() - released_at);
  queue = w->next;
  if (!queue) queue_end = &queue;
  released_at = now();
  leave_node(w, turn_removed);
  begin_turns(w);
}

static void turn_created(void *context, const struct reply *reply) {
  struct worker *w = context;
  note_node(w, reply);
  w->next = NULL;
  *queue_end = w;
  queue_end = &w->next;
  if (!held && !stopping) take_turn(queue);
}

static void begin_turns(struct worker *w) { create(w, turn_created); }

// ---- Begin and end ---------------------------------------------------------------

static const struct {
  const char *name;
  void (*begin)(struct worker *);
  bool one_session;  // of all workers
  bool own_paths;    // of each worker
} workloads[] = {
    {"W1", begin_alone, true, false},     {"W1p", begin_alone, true, true},
    {"W2", begin_handoffs, false, false}, {"W3", begin_sharing, false, false},
    {"W4", begin_turns, true, false},
};

static void made(void *context, const struct reply *reply) {
  (void)context;
  if (reply->error != NODE_EXISTS) expect(reply);
}

static struct client *waited_for;
static bool has_replies(void) { return waited_for->pending == 0; }

static void settle(struct client *client) {
  waited_for = client;
  loop_until(now() + 60, has_replies);
  if (client->pending > 0) die("the server does not answer");
}

// A node and what is above it.
static void make_path(struct client *client, const char *path) {
  char part[PATH_SIZE];
  size_t i, size = strlen(path);
  for (i = 1; i <= size; i++) {
    if (path[i] != '/' && path[i] != 0) continue;
    memcpy(part, path, i);
    part[i] = 0;
    client->kind->create(client, part, PERSISTENT, made, NULL);
  }
}

static bool one_session;

static void make_worker(struct worker *w, long i, bool own_path) {
  if (one_session && i > 0) {
    w->client = workers[0].client;
  } else {
    w->client = order.kind->open(order.hosts);
    loop_add(w->client);
  }
  w->random = (unsigned long)(i + 1) * 7919;
  if (own_path)
    snprintf(w->base, sizeof w->base, "%s/%ld", order.path, i);
  else
    snprintf(w->base, sizeof w->base, "%s", order.path);
  make_path(w->client, w->base);
  strcat(w->base, "/n-");
}

void workload_start(const struct order *wanted) {
  size_t kind, kinds = sizeof workloads / sizeof *workloads;
  long i;
  for (kind = 0; kind < kinds; kind++)
    if (strcmp(workloads[kind].name, wanted->workload) == 0) break;
  if (kind == kinds) die("no workload %s", wanted->workload);
  order = *wanted;
  one_session = workloads[kind].one_session;
  stopping = held = false;
  released_at = 0;
  queue = NULL;
  queue_end = &queue;
  workers = calloc((size_t)order.workers, sizeof *workers);
  if (!workers) die("no memory");
  for (i = 0; i < order.workers; i++)
    make_worker(&workers[i], i, workloads[kind].own_paths);
  for (i = 0; i < order.workers; i++) settle(workers[i].client);
  for (i = 0; i < order.workers; i++) workloads[kind].begin(&workers[i]);
  begin_sample();
}

void workload_stop(void) {
  long i;
  stopping = true;
  loop_after(0, NULL, NULL);
  for (i = 0; i < (one_session ? 1 : order.workers); i++) {
    struct client *client = workers[i].client;
    client->on_event = NULL;
    settle(client);
    loop_forget(client);
    client->kind->close(client);
  }
  free(workers);
  workers = NULL;
}
