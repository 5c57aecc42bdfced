/* Rewrites the import tables of shared libraries in memory. A shared library
 * calls imported functions through a table of addresses, which the dynamic
 * linker has filled in. After a rewrite, the library calls other functions.
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
  uintptr_t relro, relro_end; /* the part that the linker has made read-only */
  const char *strings;
  const ElfW(Sym) * symbols;
};

/* Finds the shared library that contains this address. Returns false if there
 * is none, or if it is the program itself, whose imports stay unchanged. */
bool image_find(struct image *image, const void *inside);
bool image_has(const struct image *image, const void *address);

/* Chooses the new address for a name that the library uses; NULL: unchanged.
 * `own`: the library's own definition of the name; NULL: it imports the
 * name. */
typedef const void *image_chooser(void *self, const char *name,
                                  const void *own);

/* Rewrites the library's tables with the addresses that `choose` returns.
 * Returns false if that is impossible. */
bool image_bind(struct image *image, image_chooser *choose, void *self);

#pragma GCC visibility pop

#endif
#endif
