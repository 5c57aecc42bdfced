/* Starts the command that `zklock run` runs, in a process group of its own.
 * Sends signals to all processes of the command. */
#ifndef ZKLOCK_COMMAND_H
#define ZKLOCK_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "terminal.h"

#pragma GCC visibility push(hidden)

/* The signal mask and the signal actions that `zklock run` has inherited from
 * its parent. The command is started with the same ones. */
struct inherited_signals {
  sigset_t mask;
  struct sigaction actions[65];
};

void inherited_signals_record(struct inherited_signals *inherited);
bool inherited_signals_ignore(const struct inherited_signals *inherited,
                              int number);

/* Starts the command with these arguments and signal settings. Returns its
 * process id. On failure, returns 0 and sets `*problem` to an errno. */
pid_t command_start(char **arguments, const struct inherited_signals *inherited,
                    struct terminal *terminal, int *problem);

/* On Linux, makes this process the parent of its orphaned descendants. Returns
 * false if the system does not support this. */
bool command_adopt_orphans(void);

/* Which processes a signal has reached. */
enum reached {
  REACHED,    /* all processes got the signal */
  PARTLY,     /* some run as another user and did not */
  NOT_REACHED /* no process of the group: all are another user's */
};

/* Sends the signal `number` to the process group. Returns which of its
 * processes got the signal. */
enum reached command_signal_group(pid_t group, int number);

/* Sends the signal `number` to the group, and to descendants of this process
 * that have left the group. Returns which of them got the signal. */
enum reached command_signal_all(pid_t group, int number);

/* Returns whether a process of the group, or a child of this process, is left.
 * If the group is empty, sets `*group` to 0, because the system can soon give
 * its id to another group. */
bool command_is_left(pid_t *group);

#pragma GCC visibility pop

#endif
