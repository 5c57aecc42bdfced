/* The memory of the virtual ensembles. All allocations of an arena are freed
 * together, with the arena. Values with several owners count their references.
 * If memory runs out, the process ends. */
#ifndef ZKLOCK_VIRTUAL_ARENA_H
#define ZKLOCK_VIRTUAL_ARENA_H

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

void *fresh(size_t size); /* returns zeroed memory */
void *regrown(void *old, size_t size);
char *fresh_text(const char *text); /* returns NULL for NULL */
/* Returns the list with room for one more element after the first `count`
 * elements. The list may have moved. `*room`: for how many elements it has
 * memory. `element`: the size of an element in bytes. */
void *with_room(void *list, int count, int *room, size_t element);

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *arena);                /* NULL is allowed */
void *arena_alloc(struct arena *arena, size_t size); /* returns zeroed memory */
const char *arena_text(struct arena *arena, const char *text);
const void *arena_bytes(struct arena *arena, const void *bytes, size_t size);

/* A node's data. A blob is immutable; `keepers` is the number of references to
 * it. A NULL blob stands for null data, which ZooKeeper allows. */
struct blob {
  int keepers;
  int32_t length;
  char bytes[];
};

/* Returns a blob with a copy of the bytes, or NULL if `length` is negative. */
struct blob *blob_new(const void *bytes, int32_t length);
struct blob *blob_keep(struct blob *blob);
void blob_drop(struct blob *blob);
static inline int32_t blob_length(const struct blob *blob) {
  return blob ? blob->length : 0;
}

#pragma GCC visibility pop

#endif
