/* What the rest of src/io asks the system for, and must have of the seed, or not
 * at all: random numbers, and the client library's imports. */
#include "io/entropy.h"
#include "io/imports.h"
#include "schedule.h"

bool entropy(void *bytes, size_t size) {
  schedule_random(bytes, size);
  return true;
}

void imports_replace(void *module, const char *function) {
  (void)module;
  (void)function;
}
