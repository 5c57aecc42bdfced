/* How a wake-up reaches nginx, which reads only sockets that it has connected
 * itself: we listen on a private Unix socket, nginx connects to it, and our
 * end of that connection takes the place of the wake-up's pipe.  The socket
 * has a name for the moment between nginx_socket_open and
 * nginx_socket_accept. */
#ifndef ZKLOCK_NGINX_SOCKET_H
#define ZKLOCK_NGINX_SOCKET_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* The Lua thread's alone. */
struct nginx_socket {
  bool open;
  int listener;
  char directory[32], path[40];
};

bool nginx_socket_open(struct nginx_socket *s); /* false: errno tells */
/* Our end of the connection that this process has made meanwhile; -1: errno
 * tells.  Nobody can connect any more in any case. */
int nginx_socket_accept(struct nginx_socket *s);
void nginx_socket_close(struct nginx_socket *s);

#pragma GCC visibility pop

#endif
