/* The memory of what is simulated or tested: pieces are counted, and sometimes there
 * is none.  Included before every source, so that the production code takes its
 * memory here: the next pieces may be refused, as a test in C wants it, or some by
 * chance, as in the simulator, which gives all back at once after each schedule. */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct random;

/* How many pieces have not been given back. */
int memory_pieces(void);

/* The next so many are refused. */
void memory_refuse(int count);
/* From now on it is looked at when it is given back: is it all zeros then? */
void memory_watch(const void *piece, size_t size);
bool memory_was_wiped(void);

/* All pieces are given back, and the next ones are of one block. */
void memory_reset(void);
/* `percent` of what is asked for is refused, by chance. */
void memory_fails(struct random *random, int percent);

void *memory_take(size_t size); /* never refused */
void *memory_malloc(size_t size);
void *memory_calloc(size_t count, size_t size);
void *memory_realloc(void *piece, size_t size);
char *memory_strdup(const char *text);
void memory_free(void *piece);

#undef strdup
#define malloc(size) memory_malloc(size)
#define calloc(count, size) memory_calloc(count, size)
#define realloc(piece, size) memory_realloc(piece, size)
#define strdup(text) memory_strdup(text)
#define free(piece) memory_free(piece)

#endif
