/* Connects a wake-up (wakeup.h) to nginx, which reads only sockets that it has
 * connected itself. So zklock listens on a private Unix socket, and nginx
 * connects to that socket. zklock's end of the connection replaces the
 * wake-up's pipe. The socket has a name in the file system only between
 * nginx_socket_open and nginx_socket_accept. */
#ifndef ZKLOCK_NGINX_SOCKET_H
#define ZKLOCK_NGINX_SOCKET_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Used by the Lua thread only. */
struct nginx_socket {
  bool open;
  int listener;
  char directory[32], path[40];
};

bool nginx_socket_open(struct nginx_socket *s); /* on false, errno is set */
/* Accepts the connection, and closes the listener in any case. Returns zklock's
 * end if this process has made the connection; otherwise returns -1 and sets
 * errno. */
int nginx_socket_accept(struct nginx_socket *s);
void nginx_socket_close(struct nginx_socket *s);

#pragma GCC visibility pop

#endif
