// The loop of the floor: descriptors in epoll, one timer, and clients that are
// flushed when a turn ends.
#ifndef FLOOR_LOOP_H
#define FLOOR_LOOP_H

#include <stdbool.h>

#include "client.h"

double now(void);  // s, of a clock that only goes forward

void loop_begin(void);
// Clients are watched from here until forget().
void loop_add(struct client *client);
void loop_forget(struct client *client);
// Calls fn(context) in so many seconds.  There is one timer.
void loop_after(double seconds, void (*fn)(void *), void *context);
// Turns until then, or until the condition is true.
void loop_until(double moment, bool (*condition)(void));
// Turns until there is a line on the standard input; false: there is none more.
bool loop_line(char *line, size_t size);

#endif
