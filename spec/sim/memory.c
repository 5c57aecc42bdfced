#include "memory.h"

#include <stddef.h>
#include <stdio.h>

#include "random.h"

#undef malloc
#undef realloc
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
  bool has_block;        /* pieces are of the block, if it has room */
  struct random *random; /* NULL: nothing is refused by chance */
  int percent, pieces, refused;
  size_t used;
  union piece *idle[CLASSES];
  _Alignas(max_align_t) char block[BLOCK];
} memory;

static struct {
  const void *piece;
  size_t size;
  bool wiped;
} watched;

void memory_reset(void) {
  memory.has_block = true;
  memory.random = NULL;
  memory.pieces = 0;
  memory.used = 0;
  memset(memory.idle, 0, sizeof memory.idle);
}

void memory_fails(struct random *random, int percent) {
  memory.random = percent ? random : NULL;
  memory.percent = percent;
}

void memory_refuse(int count) { memory.refused = count; }
int memory_pieces(void) { return memory.pieces; }

void *memory_take(size_t size) {
  size_t class = (size + sizeof(union piece) + GRAIN - 1) / GRAIN;
  bool large = OWN_PIECES || !memory.has_block || class >= CLASSES;
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
    fputs("the machine's memory, or the block, is used up\n", stderr);
    exit(1);
  }
  piece->class = class;
  return piece + 1;
}

static bool is_refused(void) {
  if (memory.refused > 0) return memory.refused-- > 0;
  return memory.random && random_chance(memory.random, memory.percent);
}

void *memory_malloc(size_t size) {
  return is_refused() ? NULL : memory_take(size);
}

void *memory_calloc(size_t count, size_t size) {
  void *piece = memory_malloc(count * size);
  return piece ? memset(piece, 0, count * size) : NULL;
}

/* (What is of the block never grows.) */
void *memory_realloc(void *given, size_t size) {
  if (!given) return memory_malloc(size);
  union piece *piece = realloc((union piece *)given - 1, size + sizeof *piece);
  return piece ? piece + 1 : NULL;
}

char *memory_strdup(const char *text) {
  size_t size = strlen(text) + 1;
  char *copy = memory_malloc(size);
  return copy ? memcpy(copy, text, size) : NULL;
}

void memory_watch(const void *piece, size_t size) {
  watched.piece = piece;
  watched.size = size;
  watched.wiped = false;
}

bool memory_was_wiped(void) { return watched.wiped; }

static void look_at(const unsigned char *piece) {
  size_t i = 0;
  while (i < watched.size && piece[i] == 0) i++;
  watched.wiped = i == watched.size;
  watched.piece = NULL;
}

void memory_free(void *given) {
  if (!given) return;
  union piece *piece = (union piece *)given - 1;
  memory.pieces--;
  if (given == watched.piece) look_at(given);
  if (piece->class == 0) {
    free(piece);
    return;
  }
  piece->next = memory.idle[piece->class];
  memory.idle[piece->class] = piece;
}
