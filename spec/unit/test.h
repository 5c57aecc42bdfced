/* Tests in C.  A file says what it is about, and each of its tests is the rest
 * of a sentence:
 *
 *     ABOUT("A timer");
 *     TEST("that is taken out is not due") { ... CHECK(...); ... }
 *
 * Those of a file share a process up to one that fails, be it by a CHECK, an assert
 * of what is tested, or memory that is left: the next one begins another.
 * c_spec.lua builds them all and tells busted of each. */
#ifndef UNIT_TEST_H
#define UNIT_TEST_H

#include <stdbool.h>
#include <stdint.h>

struct test {
  const char *file, *sentence;
  void (*run)(void);
  struct test *next;
};

void test_add(struct test *test);

#define TEST_JOIN_(a, b) a##b
#define TEST_JOIN(a, b) TEST_JOIN_(a, b)
#define TEST_(sentence, body, own, add)                                  \
  static void body(void);                                                \
  static struct test own = {__FILE__, sentence, body, 0};                \
  __attribute__((constructor)) static void add(void) { test_add(&own); } \
  static void body(void)
#define TEST(sentence)                                                         \
  TEST_(sentence, TEST_JOIN(test_body_, __LINE__), TEST_JOIN(test_, __LINE__), \
        TEST_JOIN(test_add_, __LINE__))

/* (Read by c_spec.lua.) */
#define ABOUT(subject) \
  _Static_assert(sizeof subject > 1, "what the tests are about")

/* Where the test is: what fails further down is blamed on it. */
void test_at(const char *file, int line);
#define HERE test_at(__FILE__, __LINE__)

_Noreturn void test_fail(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#define CHECK(fact) (HERE, (fact) ? (void)0 : test_fail("not so: %s", #fact))
#define CHECK_INT(expected, value) \
  (HERE, test_compare(#value, (int64_t)(expected), (int64_t)(value)))
#define CHECK_TEXT(expected, value) \
  (HERE, test_compare_text(#value, expected, value))

void test_compare(const char *what, int64_t expected, int64_t value);
void test_compare_text(const char *what, const char *expected,
                       const char *value);

#endif
