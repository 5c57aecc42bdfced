#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

enum { SIGNALS = 65 };

void terminal_open(struct terminal *terminal) {
  terminal->owner = getpgrp();
  terminal->fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
  terminal->at_once =
      terminal->fd >= 0 && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

/* Makes `group` the terminal's foreground group. A caller in the background
 * must ignore SIGTTOU: otherwise tcsetpgrp would send it this signal, which
 * stops a process. */
bool terminal_lend(struct terminal *terminal, pid_t group) {
  return terminal->fd >= 0 && tcgetpgrp(terminal->fd) == terminal->owner &&
         tcsetpgrp(terminal->fd, group) == 0;
}

void terminal_take_back(struct terminal *terminal, pid_t group) {
  if (terminal->fd >= 0 && tcgetpgrp(terminal->fd) == group)
    tcsetpgrp(terminal->fd, terminal->owner);
}

/* Whether SIGINT was ignored when the process started is unknown, because Lua's
 * interpreter has already set a handler. SIGQUIT is checked instead: a shell
 * that starts a background job ignores both signals or neither. */
void inherited_signals_record(struct inherited_signals *inherited) {
  sigprocmask(SIG_SETMASK, NULL, &inherited->mask);
  sigemptyset(&inherited->ignored);
  for (int i = 1; i < SIGNALS; i++) {
    struct sigaction action;
    if (sigaction(i == SIGINT ? SIGQUIT : i, NULL, &action) == 0 &&
        action.sa_handler == SIG_IGN)
      sigaddset(&inherited->ignored, i);
  }
}

static void restore(const struct inherited_signals *inherited) {
  for (int i = 1; i < SIGNALS; i++)
    signal(i, sigismember(&inherited->ignored, i) == 1 ? SIG_IGN : SIG_DFL);
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
