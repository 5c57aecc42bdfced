// What the workers do: see bench/README.md for the workloads.
#ifndef FLOOR_WORKLOADS_H
#define FLOOR_WORKLOADS_H

#include <stdbool.h>

#include "client.h"

struct order {
  const struct client_kind *kind;
  const char *hosts;
  char workload[16];
  char path[256];
  long workers;
  long work_us;
  long read_percent;
  bool with_list;  // W2: looks at the queue before it believes that it is first
};

// Opens the sessions and starts the workers; false: no such workload.
bool workload_start(const struct order *order);
bool workload_runs(void);
void workload_stop(void);

// From now on is counted.
void begin_sample(void);
// What was, since then.
struct sample {
  unsigned long ops;
  double seconds;
  double cpu_us;
};
void workload_sample(struct sample *sample);
// Prints the latencies of that sample, LOW:COUNT,…, and begins another.
void print_latencies(void);

#endif
