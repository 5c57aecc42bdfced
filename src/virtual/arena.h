/* Memory of the model: what is allocated together is freed together, and shared
 * values count who keeps them.  Without memory the process ends. */
#ifndef ZKLOCK_VIRTUAL_ARENA_H
#define ZKLOCK_VIRTUAL_ARENA_H

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

void *fresh(size_t size); /* zeroed */
void *regrown(void *old, size_t size);
char *fresh_text(const char *text); /* of NULL: NULL */
/* Room for one more of `count` elements in a list. */
void *with_room(void *list, int count, int *room, size_t element);

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *arena);                /* NULL will do */
void *arena_alloc(struct arena *arena, size_t size); /* zeroed */
const char *arena_text(struct arena *arena, const char *text);
const void *arena_bytes(struct arena *arena, const void *bytes, size_t size);

/* Data of nodes, which does not change; NULL is ZooKeeper's null. */
struct blob {
  int keepers;
  int32_t length;
  char bytes[];
};

struct blob *blob_new(const void *bytes, int32_t length); /* < 0: NULL */
struct blob *blob_keep(struct blob *blob);
void blob_drop(struct blob *blob);
static inline int32_t blob_length(const struct blob *blob) {
  return blob ? blob->length : 0;
}

#pragma GCC visibility pop

#endif
