/* The memory of the simulated processes: one block, given back at once after
 * each schedule; sometimes there is none.  The Makefile includes this before
 * every source, so that the production code takes its memory here. */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include <stdbool.h>
#include <stdlib.h>

struct random;

/* `percent` of what is asked for is refused, by chance. */
void memory_reset(void);
void memory_fails(struct random *random, int percent);
/* How many pieces have not been given back. */
int memory_pieces(void);

void *memory_take(size_t size); /* never refused */
void *memory_malloc(size_t size);
void *memory_calloc(size_t count, size_t size);
void memory_free(void *piece);

#define malloc(size) memory_malloc(size)
#define calloc(count, size) memory_calloc(count, size)
#define free(piece) memory_free(piece)

#endif
