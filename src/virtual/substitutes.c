/* Replaces more functions of src/io in virtual time. Random numbers come from
 * the scheduler's seed. imports_replace does nothing: the client library, too,
 * is a replacement, and needs no changed imports. */
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
