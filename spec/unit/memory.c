#define UNIT_MEMORY_ITSELF
#undef malloc
#undef calloc
#undef strdup
#undef free
#include "memory.h"

static int pieces, refused, spared;

static void *count(void *piece) {
  pieces += piece != NULL;
  return piece;
}

static int is_refused(void) {
  if (refused > 0 && spared > 0) return spared--, 0;
  return refused > 0 && refused-- > 0;
}

int memory_pieces(void) { return pieces; }
void memory_refuse(int n) {
  refused = n;
  spared = 0;
}
void memory_spare(int n) { spared = n; }

void *memory_malloc(size_t size) {
  return is_refused() ? NULL : count(malloc(size));
}

void *memory_calloc(size_t n, size_t size) {
  return is_refused() ? NULL : count(calloc(n, size));
}

char *memory_strdup(const char *text) {
  size_t size = strlen(text) + 1;
  char *copy = memory_malloc(size);
  return copy ? memcpy(copy, text, size) : NULL;
}

static const void *watched;
static size_t watched_size;
static int wiped;

void memory_watch(const void *piece, size_t size) {
  watched = piece;
  watched_size = size;
  wiped = 0;
}

int memory_was_wiped(void) { return wiped; }

static void look_at(const unsigned char *piece) {
  size_t i = 0;
  while (i < watched_size && piece[i] == 0) i++;
  wiped = i == watched_size;
  watched = NULL;
}

void memory_free(void *piece) {
  pieces -= piece != NULL;
  if (piece && piece == watched) look_at(piece);
  free(piece);
}
