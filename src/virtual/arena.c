#include "arena.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1000 };

struct chunk {
  struct chunk *next;
  size_t used, size;
  alignas(max_align_t) char bytes[];
};

struct arena {
  struct chunk *chunks;
};

static void *checked(void *memory) {
  if (!memory) {
    fputs("virtual: there is no memory left for the ensemble\n", stderr);
    abort();
  }
  return memory;
}

void *fresh(size_t size) { return checked(calloc(1, size ? size : 1)); }

void *regrown(void *old, size_t size) {
  return old ? checked(realloc(old, size)) : fresh(size);
}

char *fresh_text(const char *text) {
  if (!text) return NULL;
  size_t size = strlen(text) + 1;
  return memcpy(fresh(size), text, size);
}

void *with_room(void *list, int count, int *room, size_t element) {
  if (count < *room) return list;
  *room = *room ? 2 * *room : 4;
  return regrown(list, (size_t)*room * element);
}

struct arena *arena_new(void) {
  return fresh(sizeof(struct arena));
}

void arena_free(struct arena *arena) {
  if (!arena) return;
  for (struct chunk *next, *chunk = arena->chunks; chunk; chunk = next) {
    next = chunk->next;
    free(chunk);
  }
  free(arena);
}

void *arena_alloc(struct arena *arena, size_t size) {
  struct chunk *chunk = arena->chunks;
  size = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
  if (!chunk || chunk->size - chunk->used < size) {
    size_t room = size > CHUNK ? size : CHUNK;
    chunk = fresh(sizeof *chunk + room);
    chunk->size = room;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
  }
  chunk->used += size;
  return chunk->bytes + chunk->used - size;
}

const void *arena_bytes(struct arena *arena, const void *bytes, size_t size) {
  void *copy = arena_alloc(arena, size);
  if (size) memcpy(copy, bytes, size);
  return copy;
}

const char *arena_text(struct arena *arena, const char *text) {
  return text ? arena_bytes(arena, text, strlen(text) + 1) : NULL;
}

struct blob *blob_new(const void *bytes, int32_t length) {
  if (length < 0) return NULL;
  struct blob *blob = fresh(sizeof *blob + (size_t)length);
  blob->keepers = 1;
  blob->length = length;
  if (length) memcpy(blob->bytes, bytes, (size_t)length);
  return blob;
}

struct blob *blob_keep(struct blob *blob) {
  if (blob) blob->keepers++;
  return blob;
}

void blob_drop(struct blob *blob) {
  if (blob && --blob->keepers == 0) free(blob);
}
