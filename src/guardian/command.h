/* The command: its start in a process group of its own, and all processes that
 * have come of it. */
#ifndef ZKLOCK_COMMAND_H
#define ZKLOCK_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "terminal.h"

#pragma GCC visibility push(hidden)

/* What a process was born with, so that its child is, too. */
struct heritage {
  sigset_t mask;
  struct sigaction actions[65];
};

void heritage_note(struct heritage *heritage);
bool heritage_ignores(const struct heritage *heritage, int number);

/* Starts it: its process, or 0 with the errno of what has failed. */
pid_t command_start(char **words, const struct heritage *heritage,
                    struct terminal *terminal, int *problem);

/* A descendant of this process whose parent ends becomes its child (Linux).
 * False: not here. */
bool command_adopt_orphans(void);

/* Which processes a signal has reached. */
enum reached {
  REACHED,    /* all processes */
  PARTLY,     /* some run as another user, and were not sent it */
  NOT_REACHED /* none of the group: all run as another user */
};

/* Sends a signal to the group. */
enum reached command_signal_group(pid_t group, int number);

/* The same, and to the descendants of this process that have left the group. */
enum reached command_signal_all(pid_t group, int number);

/* Is a process left, of the group or of our children?  Sets the number of an
 * empty group to 0, because another group may get it soon. */
bool command_is_left(pid_t *group);

#pragma GCC visibility pop

#endif
