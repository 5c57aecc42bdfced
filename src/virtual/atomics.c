/* Makes each atomic operation a point at which the scheduler can switch
 * threads, by calling schedule_point before it. This includes the functions of
 * <stdatomic.h> and operators on _Atomic objects. With -fsanitize=thread, the
 * compiler replaces these operations by calls of the sanitizer's functions. The
 * program is not linked to the sanitizer; this file defines the functions
 * instead. Those for plain accesses do nothing.
 *
 * Each operation here is sequentially consistent, whatever memory order the
 * code requests. So tests explore only the order of whole operations. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "schedule.h"

/* The compiler must not instrument these functions. Otherwise they would call
 * themselves. */
#ifdef __clang__
#define PLAINLY __attribute__((disable_sanitizer_instrumentation))
#else
#define PLAINLY __attribute__((no_sanitize("thread")))
#endif
#define ORDER __ATOMIC_SEQ_CST

#define OPERATION(bits, name, how)                                         \
  uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, \
                                              uint##bits##_t value, int);  \
  PLAINLY uint##bits##_t __tsan_atomic##bits##_##name(                     \
      volatile uint##bits##_t *at, uint##bits##_t value, int order) {      \
    (void)order;                                                           \
    schedule_point();                                                      \
    return how(at, value, ORDER);                                          \
  }

#define EXCHANGE(bits, name)                                                  \
  int __tsan_atomic##bits##_compare_exchange_##name(                          \
      volatile uint##bits##_t *at, uint##bits##_t *expected,                  \
      uint##bits##_t value, int, int);                                        \
  PLAINLY int __tsan_atomic##bits##_compare_exchange_##name(                  \
      volatile uint##bits##_t *at, uint##bits##_t *expected,                  \
      uint##bits##_t value, int order, int failure) {                         \
    (void)order;                                                              \
    (void)failure;                                                            \
    schedule_point();                                                         \
    return __atomic_compare_exchange_n(at, expected, value, 0, ORDER, ORDER); \
  }

/* Only code that clang has compiled calls these functions. They return the
 * previous value. */
#define EXCHANGE_VALUE(bits)                                            \
  uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(            \
      volatile uint##bits##_t *at, uint##bits##_t expected,             \
      uint##bits##_t value, int, int);                                  \
  PLAINLY uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(    \
      volatile uint##bits##_t *at, uint##bits##_t expected,             \
      uint##bits##_t value, int order, int failure) {                   \
    (void)order;                                                        \
    (void)failure;                                                      \
    schedule_point();                                                   \
    __atomic_compare_exchange_n(at, &expected, value, 0, ORDER, ORDER); \
    return expected;                                                    \
  }

#define ALL(bits)                                                             \
  uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *,  \
                                            int);                             \
  PLAINLY uint##bits##_t __tsan_atomic##bits##_load(                          \
      const volatile uint##bits##_t *at, int order) {                         \
    (void)order;                                                              \
    schedule_point();                                                         \
    return __atomic_load_n(at, ORDER);                                        \
  }                                                                           \
  void __tsan_atomic##bits##_store(volatile uint##bits##_t *, uint##bits##_t, \
                                   int);                                      \
  PLAINLY void __tsan_atomic##bits##_store(volatile uint##bits##_t *at,       \
                                           uint##bits##_t value, int order) { \
    (void)order;                                                              \
    schedule_point();                                                         \
    __atomic_store_n(at, value, ORDER);                                       \
  }                                                                           \
  OPERATION(bits, exchange, __atomic_exchange_n)                              \
  OPERATION(bits, fetch_add, __atomic_fetch_add)                              \
  OPERATION(bits, fetch_sub, __atomic_fetch_sub)                              \
  OPERATION(bits, fetch_and, __atomic_fetch_and)                              \
  OPERATION(bits, fetch_or, __atomic_fetch_or)                                \
  OPERATION(bits, fetch_xor, __atomic_fetch_xor)                              \
  EXCHANGE(bits, strong)                                                      \
  EXCHANGE(bits, weak)                                                        \
  EXCHANGE_VALUE(bits)

ALL(8)
ALL(16)
ALL(32)
ALL(64)

void __tsan_atomic_thread_fence(int);
PLAINLY void __tsan_atomic_thread_fence(int order) {
  (void)order;
  schedule_point();
}

/* ---- Plain accesses ------------------------------------------------------ */

#define ACCESS(name)          \
  void __tsan_##name(void *); \
  PLAINLY void __tsan_##name(void *at) { (void)at; }

ACCESS(read1)
ACCESS(read2)
ACCESS(read4)
ACCESS(read8)
ACCESS(read16)
ACCESS(write1)
ACCESS(write2)
ACCESS(write4)
ACCESS(write8)
ACCESS(write16)
ACCESS(unaligned_read2)
ACCESS(unaligned_read4)
ACCESS(unaligned_read8)
ACCESS(unaligned_read16)
ACCESS(unaligned_write2)
ACCESS(unaligned_write4)
ACCESS(unaligned_write8)
ACCESS(unaligned_write16)
ACCESS(read_write1)
ACCESS(read_write2)
ACCESS(read_write4)
ACCESS(read_write8)
ACCESS(read_write16)
ACCESS(func_entry)

#define RANGE(name)                                   \
  void __tsan_##name(void *, size_t);                 \
  PLAINLY void __tsan_##name(void *at, size_t size) { \
    (void)at;                                         \
    (void)size;                                       \
  }

RANGE(read_range)
RANGE(write_range)

void __tsan_func_exit(void);
PLAINLY void __tsan_func_exit(void) {}
void __tsan_init(void);
PLAINLY void __tsan_init(void) {}

/* clang replaces calls of memcpy, memmove and memset by calls of these
 * functions. */
void *__tsan_memcpy(void *to, const void *from, size_t size);
PLAINLY void *__tsan_memcpy(void *to, const void *from, size_t size) {
  return memcpy(to, from, size);
}
void *__tsan_memmove(void *to, const void *from, size_t size);
PLAINLY void *__tsan_memmove(void *to, const void *from, size_t size) {
  return memmove(to, from, size);
}
void *__tsan_memset(void *to, int byte, size_t size);
PLAINLY void *__tsan_memset(void *to, int byte, size_t size) {
  return memset(to, byte, size);
}
