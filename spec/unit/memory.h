/* Counts the memory that a test takes, of its own and of what it tests, and
 * refuses some of it.  Included before every source. */
#ifndef UNIT_MEMORY_H
#define UNIT_MEMORY_H

#include <stdlib.h>
#include <string.h>

/* Pieces that have not been given back. */
int memory_pieces(void);
/* The next so many requests for memory are refused. */
void memory_refuse(int count);
/* But before these so many more are granted. */
void memory_spare(int count);

/* From now on it is looked at when it is given back: is it all zeros then? */
void memory_watch(const void *piece, size_t size);
int memory_was_wiped(void);

void *memory_malloc(size_t size);
void *memory_calloc(size_t count, size_t size);
char *memory_strdup(const char *text);
void memory_free(void *piece);

#ifndef UNIT_MEMORY_ITSELF
#undef strdup
#define malloc(size) memory_malloc(size)
#define calloc(count, size) memory_calloc(count, size)
#define strdup(text) memory_strdup(text)
#define free(piece) memory_free(piece)
#endif

#endif
