#include "nginx_socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "descriptors.h"

/* Creates a private directory for the socket, so that no other user can connect
 * to the socket. Returns false and sets errno on failure. */
static bool make_directory(struct nginx_socket *s) {
  static const char *const places[] = {"/tmp", "/dev/shm", "/var/tmp"};
  for (int i = 0; i < 3; i++) {
    snprintf(s->directory, sizeof s->directory, "%s/zklock-XXXXXX", places[i]);
    if (mkdtemp(s->directory)) return true;
  }
  return false;
}

static bool listen_at(int fd, const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  return bind(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
         listen(fd, 1) == 0;
}

bool nginx_socket_open(struct nginx_socket *s) {
  nginx_socket_close(s);
  if (!make_directory(s)) return false;
  snprintf(s->path, sizeof s->path, "%s/wake", s->directory);
  s->listener = descriptors_unix_socket();
  s->open = true;
  if (s->listener >= 0 && listen_at(s->listener, s->path)) return true;
  int problem = errno;
  nginx_socket_close(s);
  errno = problem;
  return false;
}

/* Returns whether this process is the peer of the connection `fd`. Some systems
 * report only the peer's user. On these systems, returns whether it is the user
 * of this process. */
static bool is_ours(int fd) {
#ifdef SO_PEERCRED
  struct ucred peer;
  socklen_t size = sizeof peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         peer.pid == getpid();
#else
  uid_t user;
  gid_t group;
  return getpeereid(fd, &user, &group) == 0 && user == geteuid();
#endif
}

int nginx_socket_accept(struct nginx_socket *s) {
  errno = EINVAL;
  int fd = s->open ? descriptors_accept(s->listener) : -1;
  if (fd >= 0 && !is_ours(fd)) {
    close(fd);
    fd = -1;
    errno = EACCES;
  }
  int problem = errno;
  nginx_socket_close(s);
  errno = problem;
  return fd;
}

void nginx_socket_close(struct nginx_socket *s) {
  if (!s->open) return;
  s->open = false;
  unlink(s->path);
  rmdir(s->directory);
  if (s->listener >= 0) close(s->listener);
}
