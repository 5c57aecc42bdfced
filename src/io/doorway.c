#include "doorway.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "descriptors.h"

/* A directory of our own: nobody else can connect. */
static bool make_directory(struct doorway *doorway) {
  static const char *const places[] = {"/tmp", "/dev/shm", "/var/tmp"};
  for (int i = 0; i < 3; i++) {
    snprintf(doorway->directory, sizeof doorway->directory, "%s/zklock-XXXXXX",
             places[i]);
    if (mkdtemp(doorway->directory)) return true;
  }
  return false;
}

static bool listen_at(int fd, const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  return bind(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
         listen(fd, 1) == 0;
}

bool doorway_open(struct doorway *doorway) {
  doorway_close(doorway);
  if (!make_directory(doorway)) return false;
  snprintf(doorway->path, sizeof doorway->path, "%s/wake", doorway->directory);
  doorway->listener = descriptors_unix_socket();
  doorway->open = true;
  if (doorway->listener >= 0 && listen_at(doorway->listener, doorway->path))
    return true;
  int problem = errno;
  doorway_close(doorway);
  errno = problem;
  return false;
}

/* Is it this process that has connected? */
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

int doorway_accept(struct doorway *doorway) {
  errno = EINVAL;
  int fd = doorway->open ? descriptors_accept(doorway->listener) : -1;
  if (fd >= 0 && !is_ours(fd)) {
    close(fd);
    fd = -1;
    errno = EACCES;
  }
  int problem = errno;
  doorway_close(doorway);
  errno = problem;
  return fd;
}

void doorway_close(struct doorway *doorway) {
  if (!doorway->open) return;
  doorway->open = false;
  unlink(doorway->path);
  rmdir(doorway->directory);
  if (doorway->listener >= 0) close(doorway->listener);
}
