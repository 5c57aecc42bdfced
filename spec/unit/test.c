/* Runs the tests: all of them, or those whose sentences contain the argument.
 * Of each it says `test`, the file and the sentence, then what the test says, then
 * `passed`, or `FAILED` and why. */
#include "test.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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
  memory_refuse(0);
  test->run();
  if (memory_pieces() != 0)
    test_fail("pieces of memory are left: %d", memory_pieces());
}

static const char *file_of(const struct test *test) {
  const char *slash = strrchr(test->file, '/');
  return slash ? slash + 1 : test->file;
}

/* The next one that is asked for, this one or another. */
static const struct test *seek(const struct test *test, const char *part) {
  while (test && part && !strstr(test->sentence, part)) test = test->next;
  return test;
}

/* Those of a file, from `*at` on. */
static void run_to_the_end(const struct test *volatile *at, const char *part) {
  const char *file = (*at)->file;
  for (;;) {
    printf("test\t%s\t%s\n", file_of(*at), (*at)->sentence);
    fflush(stdout);
    run(*at);
    printf("passed\n");
    fflush(stdout);
    const struct test *next = seek((*at)->next, part);
    if (!next || strcmp(next->file, file) != 0) exit(0);
    *at = next;
  }
}

/* Runs those of a file, from `test` on, in one process, up to the first that
 * fails; the next to be run. */
static const struct test *run_some(const struct test *test, const char *part,
                                   bool *failed) {
  const struct test *volatile *at =
      mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
           -1, 0);
  int status;
  if (at == MAP_FAILED) abort();
  fflush(stdout);
  *at = test;
  pid_t child = fork();
  if (child < 0) abort();
  if (child == 0) run_to_the_end(at, part);
  if (waitpid(child, &status, 0) != child) abort();
  if (WIFSIGNALED(status)) printf("signal %d\n", WTERMSIG(status));
  if (status != 0) printf("FAILED\n");
  *failed |= status != 0;
  test = seek((*at)->next, part);
  munmap((void *)at, sizeof *at);
  return test;
}

int main(int argc, char **argv) {
  const char *part = argc > 1 ? argv[1] : NULL;
  const struct test *test = seek(first, part);
  bool failed = false;
  while (test) test = run_some(test, part, &failed);
  printf("end\n");
  return failed;
}
