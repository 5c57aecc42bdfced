/* The last reason why there is no connection. The I/O thread records it; any
 * thread may read it. */
#ifndef ZKLOCK_LAST_ERROR_H
#define ZKLOCK_LAST_ERROR_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

enum { LAST_ERROR_MAX = 400, LAST_ERRORS_MAX = 2 * LAST_ERROR_MAX };

/* (m) guarded by lock */
struct last_error {
  pthread_mutex_t lock;
  char text[LAST_ERROR_MAX];    /* (m) "": none yet */
  char refusal[LAST_ERROR_MAX]; /* (m) the last error that was a refusal */
  bool is_fresh;                /* (m) since the last connection */
};

void last_error_init(struct last_error *last);
void last_error_free(struct last_error *last);
void last_error_note(struct last_error *last, const char *text);
/* Records that the error was a server's refusal, or ours of a server. Later
 * errors do not hide it. */
void last_error_keep(struct last_error *last);
/* Records that there is a connection again. Returns whether there was an error
 * before it. */
bool last_error_is_over(struct last_error *last);
void last_error_read(struct last_error *last, char *text, size_t size);

#pragma GCC visibility pop

#endif
