#ifndef BENCH_REDIS_RUN_H
#define BENCH_REDIS_RUN_H

#include <stdbool.h>
#include <uv.h>

#define RUN_PATH_SIZE 256

struct run;

struct run_options {
  char host[64];
  int port;
  char path[RUN_PATH_SIZE];
  int workers;
  bool own_connections; /* a session for each worker, or one for all */
  bool own_paths;
  unsigned work_ms, warm_ms;
};

/* Opens the connections and lets the workers warm up. Of an error the run is
 * returned, too: run_problem() says which. */
struct run *run_start(uv_loop_t *loop, const struct run_options *options);

/* The first thing that went wrong; NULL. */
const char *run_problem(const struct run *run);

/* Prints the answer to `sample`. */
void run_sample(struct run *run);

/* Lets those who hold a lock release it, and closes the connections. False if
 * they did not end in time: the run's memory is then still theirs. */
bool run_stop(struct run *run);

/* After run_stop() was true. */
void run_free(struct run *run);

#endif
