/* The terminal, for a command in a process group of its own.
 *
 * If standard input and output are the terminal, the command is its foreground
 * from the start. In a pipeline, another process of our own group, such as a
 * pager, may need the terminal. There the command gets it when the system stops
 * it for using it. */
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

/* Must be called in the process that owns the terminal. */
void terminal_open(struct terminal *terminal);
/* Returns false if `zklock run` does not have the terminal now. */
bool terminal_lend(struct terminal *terminal, pid_t group);
void terminal_take_back(struct terminal *terminal, pid_t group);

#pragma GCC visibility pop

#endif
