/* The terminal, as far as a command in a process group of its own needs it.
 *
 * Where standard input and output are the terminal the command is its
 * foreground from the beginning.  In the middle of a pipeline somebody else of
 * our own group may need it (a pager): there the command gets it when the
 * system stops it for having used it. */
#ifndef ZKLOCK_TERMINAL_H
#define ZKLOCK_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

struct terminal {
  int fd;      /* -1: there is none */
  pid_t owner; /* the group of `zklock run` */
  bool at_once;
};

/* In the process that is to own it. */
void terminal_open(struct terminal *terminal);
/* False: it is not ours to lend. */
bool terminal_lend(struct terminal *terminal, pid_t group);
void terminal_take_back(struct terminal *terminal, pid_t group);

#pragma GCC visibility pop

#endif
