/* Keeps the last reason why there is no connection. Usually the I/O thread
 * records it. Any thread is allowed to read it. */
#ifndef ZKLOCK_LAST_ERROR_H
#define ZKLOCK_LAST_ERROR_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

enum { LAST_ERROR_MAX = 400, LAST_ERRORS_MAX = 2 * LAST_ERROR_MAX };

/* Access: (m) guarded by `lock` */
struct last_error {
  pthread_mutex_t lock;
  char text[LAST_ERROR_MAX];    /* (m) the last error, or "" */
  char refusal[LAST_ERROR_MAX]; /* (m) kept by last_error_keep, or "" */
  bool is_fresh;                /* (m) recorded after the last connection */
};

void last_error_init(struct last_error *last);
void last_error_free(struct last_error *last);
void last_error_note(struct last_error *last, const char *text);
/* Keeps the last error as the refusal, so that later errors do not hide it.
 * Called if a server has refused this client's certificate, or this client has
 * refused the server's certificate. */
void last_error_keep(struct last_error *last);
/* Records that there is a connection again, and drops the kept refusal. Returns
 * whether an error was recorded after the previous connection. */
bool last_error_is_over(struct last_error *last);
void last_error_read(struct last_error *last, char *text, size_t size);

#pragma GCC visibility pop

#endif
