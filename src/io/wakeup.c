#include "wakeup.h"

#include <errno.h>
#include <unistd.h>

#include "descriptors.h"

bool wakeup_open(struct wakeup *wakeup) {
  int fds[2];
  if (!descriptors_pipe(fds)) return false;
  wakeup->read_fd = fds[0];
  wakeup->write_fd = fds[1];
  return true;
}

void wakeup_close(struct wakeup *wakeup) {
  if (wakeup->read_fd >= 0) close(wakeup->read_fd);
  if (wakeup->write_fd >= 0) close(wakeup->write_fd);
  wakeup->read_fd = wakeup->write_fd = -1;
}

void wakeup_signal(const struct wakeup *wakeup) {
  ssize_t n;
  do n = write(wakeup->write_fd, "!", 1);
  while (n < 0 &&
         errno == EINTR); /* EAGAIN: the pipe is full, so a byte is unread */
}

bool wakeup_clear(const struct wakeup *wakeup) {
  char bytes[64];
  bool any = false;
  ssize_t n;
  do {
    n = read(wakeup->read_fd, bytes, sizeof bytes);
    any |= n > 0;
  } while (n == (ssize_t)sizeof bytes || (n < 0 && errno == EINTR));
  return any;
}

bool wakeup_redirect(const struct wakeup *wakeup, int fd) {
  bool ok = descriptors_replace(wakeup->write_fd, fd);
  int problem = errno;
  close(fd);
  errno = problem;
  return ok;
}
