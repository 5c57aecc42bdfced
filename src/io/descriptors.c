#include "descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#if defined(SOCK_CLOEXEC) && defined(O_CLOEXEC) && !defined(__APPLE__)

bool descriptors_pipe(int fds[2]) {
  return pipe2(fds, O_CLOEXEC | O_NONBLOCK) == 0;
}

int descriptors_unix_socket(void) {
  return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

int descriptors_accept(int listener) {
  return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

bool descriptors_replace(int to, int from) {
  int flags = fcntl(from, F_GETFL);
  return flags >= 0 && fcntl(from, F_SETFL, flags | O_NONBLOCK) == 0 &&
         dup3(from, to, O_CLOEXEC) >= 0;
}

#else

static bool prepare(int fd) {
  return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 &&
         fcntl(fd, F_SETFL, O_NONBLOCK) == 0;
}

static int prepared(int fd) {
  if (fd < 0 || prepare(fd)) return fd;
  int problem = errno;
  close(fd);
  errno = problem;
  return -1;
}

bool descriptors_pipe(int fds[2]) {
  if (pipe(fds) != 0) return false;
  if (prepare(fds[0]) && prepare(fds[1])) return true;
  int problem = errno;
  close(fds[0]);
  close(fds[1]);
  errno = problem;
  return false;
}

int descriptors_unix_socket(void) {
  return prepared(socket(AF_UNIX, SOCK_STREAM, 0));
}

int descriptors_accept(int listener) {
  return prepared(accept(listener, NULL, NULL));
}

bool descriptors_replace(int to, int from) {
  return dup2(from, to) >= 0 && prepare(to);
}

#endif
