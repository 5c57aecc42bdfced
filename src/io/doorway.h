/* A doorway: how a wake-up reaches a host that reads only sockets which it has
 * connected itself, as nginx does.  A private Unix socket has a name for the
 * moment between doorway_open and doorway_accept. */
#ifndef ZKLOCK_DOORWAY_H
#define ZKLOCK_DOORWAY_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

struct doorway {
  bool open;
  int listener;
  char directory[32], path[40];
};

bool doorway_open(struct doorway *doorway); /* false: errno tells */
/* Our end of the connection that this process has made meanwhile; -1: errno
 * tells.  Closes the doorway in any case. */
int doorway_accept(struct doorway *doorway);
void doorway_close(struct doorway *doorway);

#pragma GCC visibility pop

#endif
