/* A wake-up makes another thread's poll return. It is a pipe: any thread writes
 * to one end, and an event loop polls the other end. An unread byte means that
 * the loop has work. */
#ifndef ZKLOCK_WAKEUP_H
#define ZKLOCK_WAKEUP_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Constant while the wake-up is open. Any thread is allowed to signal it. */
struct wakeup {
  int read_fd, write_fd;
};

bool wakeup_open(struct wakeup *wakeup); /* on false, errno is set */
void wakeup_close(struct wakeup *wakeup);
void wakeup_signal(const struct wakeup *wakeup); /* never blocks */
bool wakeup_clear(
    const struct wakeup *wakeup); /* returns whether bytes were read */
/* Makes the wake-up's descriptor for writing a copy of `fd`, and closes `fd`.
 * Returns false and sets errno on failure. */
bool wakeup_redirect(const struct wakeup *wakeup, int fd);

#pragma GCC visibility pop

#endif
