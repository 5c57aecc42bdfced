#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "descendants.h"

#ifdef __linux__
#include <sys/prctl.h>
#endif

enum {
  SIGNALS = sizeof((struct inherited_signals *)0)->actions /
            sizeof((struct inherited_signals *)0)->actions[0]
};

void inherited_signals_record(struct inherited_signals *inherited) {
  sigprocmask(SIG_SETMASK, NULL, &inherited->mask);
  for (int i = 1; i < SIGNALS; i++)
    if (sigaction(i, NULL, &inherited->actions[i]) != 0)
      inherited->actions[i].sa_handler = SIG_DFL;
}

/* Returns whether the signal `number` was ignored when the process started. For
 * SIGINT this is unknown, because Lua's interpreter has already set a handler.
 * SIGQUIT is checked instead: a shell that starts a background job ignores both
 * signals or neither. */
bool inherited_signals_ignore(const struct inherited_signals *inherited,
                              int number) {
  if (number == SIGINT) number = SIGQUIT;
  return inherited->actions[number].sa_handler == SIG_IGN;
}

static void restore(const struct inherited_signals *inherited) {
  for (int i = 1; i < SIGNALS; i++) {
    struct sigaction action = {.sa_handler = SIG_DFL};
    if (inherited_signals_ignore(inherited, i)) action.sa_handler = SIG_IGN;
    sigaction(i, &action, NULL);
  }
  sigprocmask(SIG_SETMASK, &inherited->mask, NULL);
}

/* Executes the command in this child process, and does not return. The child
 * ignores SIGTTOU, as its parent does, so it can make its own group the
 * terminal's foreground group. If the exec fails, writes errno to the
 * descriptor `report`. */
static void become(char **arguments, const struct inherited_signals *inherited,
                   struct terminal *terminal, pid_t parent, int report) {
  setpgid(0, 0);
  if (terminal->at_once) terminal_lend(terminal, getpid());
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(EXIT_FAILURE);
#else
  (void)parent;
#endif
  restore(inherited);
  execvp(arguments[0], arguments);
  int problem = errno;
  if (write(report, &problem, sizeof problem) < 0) problem = 0;
  _exit(EXIT_FAILURE);
}

pid_t command_start(char **arguments, const struct inherited_signals *inherited,
                    struct terminal *terminal, int *problem) {
  int report[2];
  if (pipe(report) != 0) {
    *problem = errno;
    return 0;
  }
  fcntl(report[0], F_SETFD, FD_CLOEXEC);
  fcntl(report[1], F_SETFD, FD_CLOEXEC);
  pid_t parent = getpid(), pid = fork();
  if (pid == 0) become(arguments, inherited, terminal, parent, report[1]);
  *problem = pid < 0 ? errno : 0;
  close(report[1]);
  if (pid > 0) {
    setpgid(pid, pid); /* the child does this, too: either can be first */
    ssize_t size;
    do size = read(report[0], problem, sizeof *problem);
    while (size < 0 && errno == EINTR);
    if (size <= 0) *problem = 0; /* closed by exec: the command runs */
  }
  close(report[0]);
  if (*problem == 0) return pid;
  if (pid > 0) {
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
    terminal_take_back(terminal, pid);
  }
  return 0;
}

bool command_adopt_orphans(void) {
#ifdef __linux__
  return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
#else
  return false;
#endif
}

/* Sends the signal to the group, and to descendants of `ancestor` outside the
 * group. If `ancestor` is -1, there are no such descendants. Returns which
 * processes the signal has reached. `kill` on a group succeeds even if only one
 * process got the signal. So descendants_signal also finds the processes of the
 * group that did not get it. */
static enum reached signal_below(pid_t ancestor, pid_t group, int number) {
  bool fails = group > 0 && kill(-group, number) < 0 && errno == EPERM;
  bool refused = descendants_signal(ancestor, group, number);
  if (fails || (refused && group <= 0)) return NOT_REACHED;
  return refused ? PARTLY : REACHED;
}

enum reached command_signal_group(pid_t group, int number) {
  return signal_below(-1, group, number);
}

enum reached command_signal_all(pid_t group, int number) {
  return signal_below(getpid(), group, number);
}

/* Returns whether a process of the group, or a child of this process, is left.
 * Processes of other users count, too: for them, `kill` fails with EPERM, not
 * ESRCH. WNOWAIT makes waitid leave an ended child for a later waitpid. */
bool command_is_left(pid_t *group) {
  siginfo_t info;
  if (*group > 0 && kill(-*group, 0) < 0 && errno == ESRCH) *group = 0;
  if (*group > 0) return true;
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}
