/* Runs the tests: all of them, or those whose sentences contain the argument.
 * Of each it says `test`, the file and the sentence, then what the test says, then
 * `passed`, or `FAILED` and why. */
#include "test.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../sim/memory.h"

enum { SECONDS_MAX = 120 };

static struct test *first, **last = &first;
static _Thread_local const char *file = "?";
static _Thread_local int line;

void test_add(struct test *test) {
  *last = test;
  last = &test->next;
}

void test_at(const char *at_file, int at_line) {
  file = at_file;
  line = at_line;
}

void test_fail(const char *format, ...) {
  va_list arguments;
  printf("%s:%d: ", file, line);
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  printf("\n");
  fflush(stdout);
  _exit(1);
}

void test_compare(const char *what, int64_t expected, int64_t value) {
  if (value != expected)
    test_fail("%s is %" PRId64 ", not %" PRId64, what, value, expected);
}

void test_compare_text(const char *what, const char *expected,
                       const char *value) {
  if (!value) value = "(null)";
  if (!expected) expected = "(null)";
  if (strcmp(value, expected) != 0)
    test_fail("%s is '%s', not '%s'", what, value, expected);
}

static void run(const struct test *test) {
  alarm(SECONDS_MAX);
  test->run();
  if (memory_pieces() != 0)
    test_fail("pieces of memory are left: %d", memory_pieces());
  exit(0);
}

static bool run_apart(const struct test *test) {
  int status;
  const char *slash = strrchr(test->file, '/');
  printf("test\t%s\t%s\n", slash ? slash + 1 : test->file, test->sentence);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) run(test);
  if (child < 0 || waitpid(child, &status, 0) != child) return false;
  if (status == 0)
    printf("passed\n");
  else if (WIFSIGNALED(status))
    printf("FAILED: signal %d\n", WTERMSIG(status));
  else
    printf("FAILED\n");
  return status == 0;
}

int main(int argc, char **argv) {
  int failed = 0;
  for (const struct test *test = first; test; test = test->next)
    if (argc < 2 || strstr(test->sentence, argv[1])) failed += !run_apart(test);
  printf("end\n");
  return failed > 0;
}
