/* Starts the command in a process group of its own, and signals all its
 * processes. */
#ifndef ZKLOCK_COMMAND_H
#define ZKLOCK_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "terminal.h"

#pragma GCC visibility push(hidden)

/* The signal settings that `zklock run` has at its start. The command gets the
 * same settings. */
struct inherited_signals {
  sigset_t mask;
  struct sigaction actions[65];
};

void inherited_signals_record(struct inherited_signals *inherited);
bool inherited_signals_ignore(const struct inherited_signals *inherited,
                              int number);

/* Starts the command. Returns its process, or returns 0 and sets `*problem` to
 * an errno. */
pid_t command_start(char **arguments, const struct inherited_signals *inherited,
                    struct terminal *terminal, int *problem);

/* Makes this process the parent of orphaned descendants (Linux). Returns false
 * if that is not supported. */
bool command_adopt_orphans(void);

/* The processes that a signal has reached. */
enum reached {
  REACHED,    /* all processes got the signal */
  PARTLY,     /* some processes run as another user and got none */
  NOT_REACHED /* none of the group: all run as another user */
};

/* Sends a signal to the process group. */
enum reached command_signal_group(pid_t group, int number);

/* Sends a signal to the group, and to descendants of this process that have
 * left the group. */
enum reached command_signal_all(pid_t group, int number);

/* Returns whether a process of the group, or a child of this process, is left.
 * Sets `*group` to 0 if the group is empty: the system can soon give its number
 * to another group. */
bool command_is_left(pid_t *group);

#pragma GCC visibility pop

#endif
