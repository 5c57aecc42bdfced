/* Random numbers (SplitMix64). The same seed always yields the same numbers. */
#ifndef ZKLOCK_VIRTUAL_CHANCE_H
#define ZKLOCK_VIRTUAL_CHANCE_H

#include <stdbool.h>
#include <stdint.h>

struct chance {
  uint64_t state;
};

static inline uint64_t chance_next(struct chance *chance) {
  uint64_t z = chance->state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

/* Returns a random number generator: number `stream` of those that this seed
 * defines. Drawing from one generator does not change the others. */
static inline struct chance chance_stream(uint64_t seed, uint64_t stream) {
  struct chance chance = {seed ^ stream * UINT64_C(0xd1342543de82ef95)};
  return (struct chance){chance_next(&chance)};
}

/* Returns a number from 0 to `count` - 1. */
static inline uint64_t chance_below(struct chance *chance, uint64_t count) {
  return count > 1 ? chance_next(chance) % count : 0;
}

/* Returns true in one of `count` calls on average. If `count` is 0, always
 * returns false. */
static inline bool chance_one_in(struct chance *chance, uint64_t count) {
  return count > 0 && chance_next(chance) % count == 0;
}

#endif
