#ifndef BENCH_REDIS_METER_H
#define BENCH_REDIS_METER_H

#include <stdint.h>

#define METER_BUCKETS 500 /* up to 11 hours */

/* Latencies in buckets that grow by 5 %, and what they took of the CPU. */
struct meter {
  uint64_t counts[METER_BUCKETS];
  uint64_t ops;
  uint64_t repeats; /* of them, those of whoever had it before */
  uint64_t began_ns, cpu_began_ns;
};

void meter_restart(struct meter *meter);
void meter_record(struct meter *meter, uint64_t latency_ns);

/* Prints the answer to `sample`, and starts anew. */
void meter_print(struct meter *meter);

#endif
