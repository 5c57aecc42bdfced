/* Shared libraries in memory, and the addresses in their tables of imports. A
 * shared library calls imported functions through a table that the dynamic
 * linker has filled in. These functions rewrite it.
 *
 * IMAGES is defined on systems where that is possible. */
#ifndef ZKLOCK_IMAGES_H
#define ZKLOCK_IMAGES_H

#if defined(__linux__) &&                                                \
    (defined(__x86_64__) || defined(__i386__) || defined(__aarch64__) || \
     defined(__arm__) || defined(__riscv) || defined(__s390__) ||        \
     (defined(__powerpc64__) && _CALL_ELF == 2))
#define IMAGES

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

struct image {
  uintptr_t base, from, to;
  const ElfW(Dyn) * dynamic;
  uintptr_t relro, relro_end; /* made read-only by the linker */
  const char *strings;
  const ElfW(Sym) * symbols;
};

/* Finds the library that contains this address. Returns false for the program
 * itself, whose imports stay unchanged. */
bool image_find(struct image *image, const void *inside);
bool image_has(const struct image *image, const void *address);

/* Returns the new address for a name that the library uses; NULL: unchanged.
 * `own`: the library's own definition of it; NULL: it imports it. */
typedef const void *image_chooser(void *self, const char *name,
                                  const void *own);

/* Rewrites the tables of the library. Returns false if that is impossible. */
bool image_bind(struct image *image, image_chooser *choose, void *self);

#pragma GCC visibility pop

#endif
#endif
