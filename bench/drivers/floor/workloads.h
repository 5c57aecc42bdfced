// What the workers do: see bench/README.md for the workloads.
#ifndef FLOOR_WORKLOADS_H
#define FLOOR_WORKLOADS_H

#include "client.h"

struct order {
  const struct client_kind *kind;
  const char *hosts;
  char workload[16];
  char path[256];
  long workers;
  long work_us;
  long read_percent;
};

// Opens the sessions and starts the workers.
void workload_start(const struct order *order);
// Ends the workers and closes the sessions.
void workload_stop(void);
// Prints the answer to `sample`, and begins another sample.
void print_sample(void);

#endif
