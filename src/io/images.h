/* Rewrites the import tables of shared libraries in memory. A shared library
 * calls imported functions through a table of addresses. The dynamic linker
 * fills in this table. After zklock has changed an address in the table, the
 * library calls another function.
 *
 * The macro IMAGES is defined on the systems where zklock can do this. */
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

/* Finds the shared library that contains the address `inside`, and describes it
 * in `image`. Returns false if no shared library contains it. Also returns
 * false for the program itself, because the program's imports must stay
 * unchanged. */
bool image_find(struct image *image, const void *inside);
bool image_has(const struct image *image, const void *address);

/* Returns the new address for the symbol `name` of a library, or NULL to leave
 * it unchanged. `own`: the library's own definition of the symbol, or NULL if
 * the library imports it. */
typedef const void *image_chooser(void *self, const char *name,
                                  const void *own);

/* Rewrites the library's tables with the addresses that `choose(self, name,
 * own)` returns. Returns false if the tables cannot be rewritten. */
bool image_bind(struct image *image, image_chooser *choose, void *self);

#pragma GCC visibility pop

#endif
#endif
