#include "memory.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "random.h"

#undef malloc
#undef free

/* Under the address sanitizer each piece is its own, so that it sees one that
 * is used after it was given back. */
#if defined(__SANITIZE_ADDRESS__)
#define OWN_PIECES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OWN_PIECES 1
#endif
#endif
#ifndef OWN_PIECES
#define OWN_PIECES 0
#endif

enum { BLOCK = 1 << 20, GRAIN = 64, CLASSES = 64 };

union piece {
  struct {
    union piece *next; /* of those given back */
    size_t class;
  };
  max_align_t aligned;
};

static struct {
  struct random *random; /* NULL: nothing is refused */
  int percent, pieces;
  size_t used;
  union piece *idle[CLASSES];
  _Alignas(max_align_t) char block[BLOCK];
} memory;

void memory_reset(void) {
  memory.random = NULL;
  memory.pieces = 0;
  memory.used = 0;
  memset(memory.idle, 0, sizeof memory.idle);
}

void memory_fails(struct random *random, int percent) {
  memory.random = percent ? random : NULL;
  memory.percent = percent;
}

int memory_pieces(void) { return memory.pieces; }

void *memory_take(size_t size) {
  size_t class = (size + sizeof(union piece) + GRAIN - 1) / GRAIN;
  bool large = OWN_PIECES || class >= CLASSES;
  union piece *piece = large ? NULL : memory.idle[class];
  memory.pieces++;
  if (piece) {
    memory.idle[class] = piece->next;
    return piece + 1;
  }
  if (large) {
    class = 0;
    piece = malloc(size + sizeof *piece);
  } else if (memory.used + class * GRAIN <= BLOCK) {
    piece = (union piece *)(memory.block + memory.used);
    memory.used += class * GRAIN;
  }
  if (!piece) {
    fputs("sim: the machine's memory, or the block, is used up\n", stderr);
    exit(1);
  }
  piece->class = class;
  return piece + 1;
}

void *memory_malloc(size_t size) {
  if (memory.random && random_chance(memory.random, memory.percent))
    return NULL;
  return memory_take(size);
}

void *memory_calloc(size_t count, size_t size) {
  void *piece = memory_malloc(count * size);
  return piece ? memset(piece, 0, count * size) : NULL;
}

void memory_free(void *given) {
  if (!given) return;
  union piece *piece = (union piece *)given - 1;
  memory.pieces--;
  if (piece->class == 0) {
    free(piece);
    return;
  }
  piece->next = memory.idle[piece->class];
  memory.idle[piece->class] = piece;
}
