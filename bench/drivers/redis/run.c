#include "run.h"

#include <hiredis/async.h>
#include <hiredis/hiredis.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "attach.h"
#include "meter.h"

/* Whoever finds the lock taken tries again after a random time, which is spread
 * about the 100 to 200 ms that the known clients have as their default. */
#define RETRY_LEAST_MS 50
#define RETRY_MOST_MS 250

/* The lock's time to live. */
#define LEASE_MS 30000

#define PATIENCE_NS UINT64_C(60000000000)

/* Deletes the key only if it is still the caller's: its lease may have ended,
 * and another may have the lock. */
static const char RELEASE[] =
    "if redis.call('get', KEYS[1]) == ARGV[1] then "
    "return redis.call('del', KEYS[1]) else return 0 end";

struct session {
  struct run *run;
  redisAsyncContext *context; /* NULL: it is not open */
};

struct worker {
  struct run *run;
  struct session *session;
  uv_timer_t timer;
  int number;
  bool holds;
  char key[RUN_PATH_SIZE + 16];
  uint64_t secret, acquisitions; /* a token that nobody else has, each time */
  char token[48];
  uint64_t began_ns, latency_ns;
};

struct run {
  uv_loop_t *loop;
  struct run_options options;
  struct meter meter;
  uv_timer_t tick; /* so that a wait sees the time pass */
  struct session *sessions;
  struct worker *workers;
  int session_count;
  int pending; /* connections that are still to open */
  int open;    /* and those that are */
  int busy;    /* workers */
  int closing; /* timers that are not closed yet */
  bool began;  /* the workers have */
  bool stopping;
  char script[41]; /* the release script's hash */
  const char *problem;

  /* The witness: a holder leaves before it lets the lock go, and enters once it
   * has it. Two that are in prove that the lock does not exclude. */
  bool held;
  uint64_t left_ns;
  int last; /* who left */
};

static void acquire(struct worker *worker);

static void fail(struct run *run, const char *problem) {
  if (!run->problem) run->problem = problem;
  run->stopping = true;
}

/* Turns the loop until *count is zero, or until the deadline. */
static bool wait_for(struct run *run, const int *count, uint64_t deadline_ns) {
  while (*count > 0 && uv_hrtime() < deadline_ns) {
    uv_run(run->loop, UV_RUN_ONCE);
  }
  return *count == 0;
}

/* ---- What a worker does -------------------------------------------------- */

static void end(struct worker *worker) { worker->run->busy--; }

/* Sends a command, or ends the worker. */
#define SEND(worker, answered, ...)                                \
  do {                                                             \
    redisAsyncContext *context_ = (worker)->session->context;      \
    if (!context_ || redisAsyncCommand(context_, answered, worker, \
                                       __VA_ARGS__) != REDIS_OK) { \
      fail((worker)->run, "the connection is lost");               \
      end(worker);                                                 \
    }                                                              \
  } while (0)

static void released(redisAsyncContext *context, void *answer, void *data) {
  struct worker *worker = data;
  struct run *run = worker->run;
  const redisReply *reply = answer;
  (void)context;
  if (!reply || reply->type != REDIS_REPLY_INTEGER || reply->integer != 1) {
    fail(run, reply ? "the lock was lost" : "the connection is lost");
    end(worker);
    return;
  }
  if (run->options.own_paths) meter_record(&run->meter, worker->latency_ns);
  acquire(worker);
}

static void release(struct worker *worker) {
  struct run *run = worker->run;
  worker->holds = false;
  if (!run->options.own_paths) {
    run->held = false;
    run->last = worker->number;
    run->left_ns = uv_hrtime();
  }
  SEND(worker, released, "EVALSHA %s 1 %s %s", run->script, worker->key,
       worker->token);
}

static void on_work_done(uv_timer_t *timer) { release(timer->data); }

/* Notes that the worker is in. */
static void enter(struct worker *worker) {
  struct run *run = worker->run;
  uint64_t now_ns = uv_hrtime();
  if (run->held) fail(run, "two hold the lock at the same time");
  run->held = true;
  if (run->left_ns == 0) return;
  meter_record(&run->meter, now_ns - run->left_ns);
  if (run->last == worker->number) run->meter.repeats++;
}

static void hold(struct worker *worker) {
  struct run *run = worker->run;
  worker->holds = true;
  if (run->options.own_paths) {
    worker->latency_ns = uv_hrtime() - worker->began_ns;
  } else {
    enter(worker);
  }
  if (run->options.work_ms > 0 && !run->stopping) {
    uv_update_time(run->loop);
    uv_timer_start(&worker->timer, on_work_done, run->options.work_ms, 0);
  } else {
    release(worker);
  }
}

static void try_once(struct worker *worker);

static void on_retry(uv_timer_t *timer) { try_once(timer->data); }

static void tried(redisAsyncContext *context, void *answer, void *data) {
  struct worker *worker = data;
  struct run *run = worker->run;
  const redisReply *reply = answer;
  (void)context;
  if (reply && reply->type == REDIS_REPLY_STATUS) {
    hold(worker);
  } else if (!reply || reply->type != REDIS_REPLY_NIL) {
    fail(run, reply ? "SET is refused" : "the connection is lost");
    end(worker);
  } else if (run->stopping) {
    end(worker);
  } else {
    long spread = RETRY_MOST_MS - RETRY_LEAST_MS + 1;
    uint64_t delay = (uint64_t)(RETRY_LEAST_MS + random() % spread);
    uv_timer_start(&worker->timer, on_retry, delay, 0);
  }
}

static void try_once(struct worker *worker) {
  SEND(worker, tried, "SET %s %s NX PX %d", worker->key, worker->token,
       LEASE_MS);
}

static void acquire(struct worker *worker) {
  if (worker->run->stopping) {
    end(worker);
    return;
  }
  snprintf(worker->token, sizeof worker->token, "%016llx-%llx",
           (unsigned long long)worker->secret,
           (unsigned long long)++worker->acquisitions);
  worker->began_ns = uv_hrtime();
  try_once(worker);
}

/* ---- Connections --------------------------------------------------------- */

static void on_script(redisAsyncContext *context, void *answer, void *data) {
  struct run *run = data;
  const redisReply *reply = answer;
  (void)context;
  run->pending--;
  if (!reply || reply->type != REDIS_REPLY_STRING) {
    fail(run, "the script cannot be loaded");
  } else {
    snprintf(run->script, sizeof run->script, "%s", reply->str);
  }
}

static void on_connect(const redisAsyncContext *context, int status) {
  struct session *session = context->data;
  struct run *run = session->run;
  run->pending--;
  if (status == REDIS_OK) {
    run->open++;
  } else {
    session->context = NULL; /* which hiredis frees */
    fail(run, "a connection cannot be opened");
  }
}

static void on_disconnect(const redisAsyncContext *context, int status) {
  struct session *session = context->data;
  session->context = NULL;
  session->run->open--;
  if (status != REDIS_OK) fail(session->run, "the connection is lost");
}

static void open_session(struct run *run, struct session *session) {
  redisAsyncContext *context =
      redisAsyncConnect(run->options.host, run->options.port);
  session->run = run;
  if (!context || context->err || !attach(context, run->loop)) {
    if (context) redisAsyncFree(context);
    fail(run, "a connection cannot be made");
    return;
  }
  context->data = session;
  session->context = context;
  run->pending++;
  redisAsyncSetConnectCallback(context, on_connect);
  redisAsyncSetDisconnectCallback(context, on_disconnect);
}

static void open_sessions(struct run *run) {
  uint64_t deadline_ns = uv_hrtime() + PATIENCE_NS;
  for (int i = 0; i < run->session_count && !run->problem; i++) {
    open_session(run, &run->sessions[i]);
  }
  if (!wait_for(run, &run->pending, deadline_ns)) {
    fail(run, "a connection takes a minute");
  }
  if (run->problem) return;
  run->pending++;
  redisAsyncCommand(run->sessions[0].context, on_script, run, "SCRIPT LOAD %s",
                    RELEASE);
  wait_for(run, &run->pending, deadline_ns);
}

/* ---- From start to stop -------------------------------------------------- */

static void on_tick(uv_timer_t *timer) { (void)timer; }

static void on_closed(uv_handle_t *timer) {
  struct run *run = timer->data;
  run->closing--;
}

static void begin(struct run *run, int number) {
  struct worker *worker = &run->workers[number];
  int session = run->options.own_connections ? number : 0;
  worker->run = run;
  worker->session = &run->sessions[session];
  worker->number = number;
  if (run->options.own_paths) {
    snprintf(worker->key, sizeof worker->key, "%s/%d", run->options.path,
             number);
  } else {
    snprintf(worker->key, sizeof worker->key, "%s", run->options.path);
  }
  if (getrandom(&worker->secret, sizeof worker->secret, 0) < 0) {
    fail(run, "there is no randomness");
  }
  uv_timer_init(run->loop, &worker->timer);
  worker->timer.data = worker;
  run->busy++;
  acquire(worker);
}

struct run *run_start(uv_loop_t *loop, const struct run_options *options) {
  struct run *run = calloc(1, sizeof *run);
  int sessions = options->own_connections ? options->workers : 1;
  if (!run) return NULL;
  run->loop = loop;
  run->options = *options;
  run->session_count = sessions;
  run->sessions = calloc((size_t)sessions, sizeof *run->sessions);
  run->workers = calloc((size_t)options->workers, sizeof *run->workers);
  uv_timer_init(loop, &run->tick);
  uv_timer_start(&run->tick, on_tick, 10, 10);
  if (!run->sessions || !run->workers) {
    run->session_count = 0;
    fail(run, "there is no memory");
  } else {
    open_sessions(run);
  }
  if (!run->problem) {
    const int always = 1;
    uint64_t warm_ns = (uint64_t)options->warm_ms * 1000000;
    run->began = true;
    for (int i = 0; i < options->workers; i++) begin(run, i);
    wait_for(run, &always, uv_hrtime() + warm_ns);
  }
  uv_timer_stop(&run->tick);
  meter_restart(&run->meter);
  return run;
}

const char *run_problem(const struct run *run) { return run->problem; }

void run_sample(struct run *run) { meter_print(&run->meter); }

static void close_timer(struct run *run, uv_timer_t *timer) {
  timer->data = run;
  run->closing++;
  uv_close((uv_handle_t *)timer, on_closed);
}

/* Ends the waits for timers: of those that wait to try again, and of those that
 * have the lock and work. */
static void end_the_idle(struct run *run) {
  for (int i = 0; i < run->options.workers; i++) {
    struct worker *worker = &run->workers[i];
    if (!uv_is_active((uv_handle_t *)&worker->timer)) continue;
    uv_timer_stop(&worker->timer);
    if (worker->holds) {
      release(worker);
    } else {
      end(worker);
    }
  }
}

static void close_sessions(struct run *run, uint64_t deadline_ns) {
  for (int i = 0; i < run->session_count; i++) {
    redisAsyncContext *context = run->sessions[i].context;
    if (!context) continue;
    if (context->c.flags & REDIS_CONNECTED) {
      redisAsyncDisconnect(context);
    } else {
      redisAsyncFree(context);
    }
  }
  if (!wait_for(run, &run->open, deadline_ns)) {
    fail(run, "a connection does not close");
  }
}

bool run_stop(struct run *run) {
  uint64_t deadline_ns = uv_hrtime() + PATIENCE_NS;
  run->stopping = true;
  uv_timer_start(&run->tick, on_tick, 10, 10);
  if (run->began) end_the_idle(run);
  if (!wait_for(run, &run->busy, deadline_ns)) fail(run, "a worker waits");
  close_sessions(run, deadline_ns);
  if (run->busy > 0 || run->open > 0) return false;
  if (run->began) {
    for (int i = 0; i < run->options.workers; i++) {
      close_timer(run, &run->workers[i].timer);
    }
  }
  close_timer(run, &run->tick);
  return wait_for(run, &run->closing, deadline_ns);
}

void run_free(struct run *run) {
  free(run->sessions);
  free(run->workers);
  free(run);
}
