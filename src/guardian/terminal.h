/* Lends the terminal to a command, which has a process group of its own.
 *
 * If standard input and output are the terminal, the command's group is the
 * foreground group from the start. Otherwise `zklock run` can be part of a
 * pipeline. Another process of its group, such as a pager, can then need the
 * terminal. So the command gets the terminal later. It must have tried to use
 * it, and the system must have stopped it for that. */
#ifndef ZKLOCK_TERMINAL_H
#define ZKLOCK_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

struct terminal {
  int fd;      /* -1 if there is no terminal */
  pid_t owner; /* the process group of `zklock run` */
  bool at_once;
};

/* Opens the terminal, and records the caller's process group as its owner. The
 * owner must be the group of `zklock run`, so the guardian must not call
 * this. */
void terminal_open(struct terminal *terminal);
/* Makes `group` the terminal's foreground group. Returns false if that fails,
 * or if the foreground group is not that of `zklock run`. */
bool terminal_lend(struct terminal *terminal, pid_t group);
void terminal_take_back(struct terminal *terminal, pid_t group);

#pragma GCC visibility pop

#endif
