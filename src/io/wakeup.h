/* A wake-up: one end is written by any thread, the other is what a loop
 * polls.  A pipe; an unread byte means "there is something". */
#ifndef ZKLOCK_WAKEUP_H
#define ZKLOCK_WAKEUP_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Constant while open; any thread may signal. */
struct wakeup {
  int read_fd, write_fd;
};

bool wakeup_open(struct wakeup *wakeup); /* false: errno tells */
void wakeup_close(struct wakeup *wakeup);
void wakeup_signal(const struct wakeup *wakeup); /* never blocks */
bool wakeup_clear(const struct wakeup *wakeup);  /* was there any? */
/* Writes to `fd` from now on, under the same number; closes `fd`. */
bool wakeup_redirect(const struct wakeup *wakeup, int fd);

#pragma GCC visibility pop

#endif
