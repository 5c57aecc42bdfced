/* Replaces further functions of src/io that use the system. Random numbers
 * depend on the seed. The functions that the client library imports are not
 * changed. */
#include "fake_tls.h"
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

bool imports_have_streams(void) { return true; }
