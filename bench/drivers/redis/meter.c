#include "meter.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static uint64_t read_clock(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void meter_restart(struct meter *meter) {
  memset(meter, 0, sizeof *meter);
  meter->began_ns = read_clock(CLOCK_MONOTONIC);
  meter->cpu_began_ns = read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

void meter_record(struct meter *meter, uint64_t latency_ns) {
  double us = (double)latency_ns / 1e3;
  int bucket = us < 1 ? 0 : (int)(log(us) / log(1.05));
  if (bucket >= METER_BUCKETS) bucket = METER_BUCKETS - 1;
  meter->counts[bucket]++;
  meter->ops++;
}

void meter_print(struct meter *meter) {
  uint64_t ns = read_clock(CLOCK_MONOTONIC) - meter->began_ns;
  uint64_t cpu_ns = read_clock(CLOCK_PROCESS_CPUTIME_ID) - meter->cpu_began_ns;
  const char *separator = "";
  printf("sample ops=%" PRIu64 " seconds=%.6f cpu_us=%" PRIu64 " hist=",
         meter->ops, (double)ns / 1e9, cpu_ns / 1000);
  for (int i = 0; i < METER_BUCKETS; i++) {
    if (meter->counts[i] == 0) continue;
    printf("%s%.2f:%" PRIu64, separator, pow(1.05, i), meter->counts[i]);
    separator = ",";
  }
  printf(" repeats=%" PRIu64 "\n", meter->repeats);
  meter_restart(meter);
}
