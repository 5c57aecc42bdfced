/* What the client library has said last of why there is no connection: the I/O
 * thread notes it, any thread reads it. */
#ifndef ZKLOCK_LAST_ERROR_H
#define ZKLOCK_LAST_ERROR_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* (m) guarded by lock */
struct last_error {
  pthread_mutex_t lock;
  char text[250]; /* (m) "": none yet */
  bool is_fresh;  /* (m) since the last connection */
};

void last_error_init(struct last_error *last);
void last_error_free(struct last_error *last);
void last_error_note(struct last_error *last, const char *text);
/* There is a connection again.  Was there an error before it? */
bool last_error_is_over(struct last_error *last);
void last_error_read(struct last_error *last, char *text, size_t size);

#pragma GCC visibility pop

#endif
