/* Starts the command that `zklock run` runs, in a process group of its own, and
 * lends it the terminal.
 *
 * If standard input and output are the terminal, the command's group is the
 * foreground group from the start. Otherwise `zklock run` can be part of a
 * pipeline. Another process of its group, such as a pager, can then need the
 * terminal. So the command gets the terminal later. It must have tried to use
 * it, and the system must have stopped it for that. */
#ifndef ZKLOCK_COMMAND_H
#define ZKLOCK_COMMAND_H

#include <signal.h>
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

/* The signal mask and the ignored signals that `zklock run` has inherited from
 * its parent. The command is started with the same ones. */
struct inherited_signals {
  sigset_t mask, ignored;
};

void inherited_signals_record(struct inherited_signals *inherited);

/* Starts the command with these arguments and signal settings. Returns its
 * process id. On failure, returns 0 and sets `*problem` to an errno. */
pid_t command_start(char **arguments, const struct inherited_signals *inherited,
                    struct terminal *terminal, int *problem);

#pragma GCC visibility pop

#endif
