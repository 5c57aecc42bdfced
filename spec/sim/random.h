/* The simulator's only source of chance: the same seed, the same schedule. */
#ifndef SIM_RANDOM_H
#define SIM_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
  uint64_t state;
};

/* Source: Steele, Lea, Flood, "Fast splittable pseudorandom number
 * generators", 2014 (SplitMix64). */
static inline uint64_t random_next(struct random *r) {
  uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* 0 .. n-1 */
static inline int random_below(struct random *r, int n) {
  return (int)(((random_next(r) >> 32) * (uint64_t)n) >> 32);
}

/* low .. high */
static inline int64_t random_between(struct random *r, int64_t low,
                                     int64_t high) {
  uint64_t span = (uint64_t)(high - low) + 1;
  return low + (int64_t)(random_next(r) % span);
}

static inline bool random_chance(struct random *r, int percent) {
  return random_below(r, 100) < percent;
}

/* low .. high, where small ones are as likely as large ones: what happens
 * within a round trip and what takes a session timeout are both wanted. */
static inline int64_t random_span(struct random *r, int64_t low, int64_t high) {
  int64_t top = (high - low) >> random_below(r, 10);
  return low + random_between(r, 0, top);
}

#endif
