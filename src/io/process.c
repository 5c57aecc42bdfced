/* Caches the process id in a page of memory. MADV_WIPEONFORK makes the kernel
 * clear the page in every child that has memory of its own. A handler of
 * pthread_atfork would not be enough, because it does not run for clone(2) or
 * _Fork(3). On systems without such pages, process_id asks the kernel each
 * time. */
#include "process.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef MADV_WIPEONFORK

/* Points to the cached process id, in a memory page of its own. The id is 0
 * while it is not known. The pointer is NULL if there is no such page. It does
 * not change after `prepare`. */
static _Atomic pid_t *noted;

/* Allocates the page, if the kernel supports MADV_WIPEONFORK. Some emulators
 * accept every madvise() without effect. To detect this, the function also
 * passes an invalid advice. If that is accepted, the page is not used. */
static void prepare(void) {
  size_t size = (size_t)sysconf(_SC_PAGESIZE);
  void *page = mmap(NULL, size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (madvise(page, size, MADV_WIPEONFORK) != 0 ||
      madvise(page, size, -1) == 0) {
    munmap(page, size);
    return;
  }
  noted = page;
}

pid_t process_id(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, prepare);
  if (!noted) return getpid();
  pid_t id = atomic_load_explicit(noted, memory_order_relaxed);
  if (id == 0) {
    id = getpid();
    atomic_store_explicit(noted, id, memory_order_relaxed);
  }
  return id;
}

#else

pid_t process_id(void) { return getpid(); }

#endif
