#include "trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static FILE *file;

bool trace_to(const char *name) {
  if (file) fclose(file);
  file = name ? fopen(name, "ae") : NULL;
  return file || !name;
}

bool trace_is_on(void) { return file; }

void trace(int64_t now, const char *format, ...) {
  va_list arguments;
  if (!file) return;
  fprintf(file, "%" PRId64 ".%09d ", now / 1000000000, (int)(now % 1000000000));
  va_start(arguments, format);
  vfprintf(file, format, arguments);
  va_end(arguments);
  putc('\n', file);
}
