/* Preloaded: os.setlocale() also says how much of the heap is in use, exactly
 * and with what the allocator takes for itself.  (Lua calls setlocale for
 * nothing else, and the result is not looked at.) */
#include <malloc.h>
#include <stdio.h>

char *setlocale(int category, const char *locale);

char *setlocale(int category, const char *locale) {
  static char c_locale[] = "C";
  struct mallinfo2 info = mallinfo2();
  (void)category;
  (void)locale;
  fprintf(stderr, "heap %zu\n", info.uordblks + info.hblkhd);
  return c_locale;
}
