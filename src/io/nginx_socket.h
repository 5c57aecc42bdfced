/* Connects a wake-up (wakeup.h) to nginx. nginx can read only sockets that it
 * has connected itself. So zklock listens on a private Unix socket, and nginx
 * connects to it. zklock's end of that connection then replaces the wake-up's
 * pipe. The socket has a name in the file system only between nginx_socket_open
 * and nginx_socket_accept. */
#ifndef ZKLOCK_NGINX_SOCKET_H
#define ZKLOCK_NGINX_SOCKET_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Only the Lua thread uses these fields. */
struct nginx_socket {
  bool open;
  int listener;
  char directory[32], path[40];
};

bool nginx_socket_open(struct nginx_socket *s); /* on false, errno is set */
/* Accepts nginx's connection. Closes the listener even on failure. Returns
 * zklock's end of the connection. If another process has connected, or on
 * failure, returns -1 and sets errno. */
int nginx_socket_accept(struct nginx_socket *s);
void nginx_socket_close(struct nginx_socket *s);

#pragma GCC visibility pop

#endif
