#include "guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "io/clock.h"
#include "processes.h"

#ifdef __linux__
#include <sys/prctl.h>
#endif

/* Exit codes of `zklock run`. LOST is zklock's own; shells use the other two,
 * with the same meaning. */
enum { LOST = 76, NOT_EXECUTABLE = 126, NOT_FOUND = 127 };

static const int64_t NEVER = INT64_MAX, MILLISECOND = 1000000;

/* The time between two rounds of SIGKILL. Each round searches again for all
 * processes that must end. A process that forks can escape one round, but not
 * the next. Only repeated searches find all processes: no signal reports the
 * end of a process that is not the guardian's child. */
static const int64_t SEARCH_PAUSE = 20 * MILLISECOND;
/* The time between two rounds of SIGKILL once a process of another user has
 * refused the signal. */
static const int64_t LONG_SEARCH_PAUSE = 1000 * MILLISECOND;

enum stage { WAITING, RUNNING, ENDING, KILLING };

struct guardian {
  char **arguments;
  struct terminal terminal;
  struct inherited_signals inherited;
  int channel; /* to `zklock run`; -1: `zklock run` has ended */
  int wakeup;  /* the pipe that SIGCHLD writes to */
  struct clock_timer timer;
  char line[512];
  size_t length;

  enum stage stage;
  pid_t command;
  pid_t group;  /* the command's process group; 0 if empty */
  bool is_over; /* the leader has ended, with `status` */
  int status;
  bool must_end; /* all processes of the command must end */
  bool refused;  /* a process of another user did not get SIGKILL */
  int64_t grace; /* nanoseconds between TERM and KILL */
  int64_t lease_end, margin, hold_end, kill_at, next_kill;
};

static int wakeup_write_end; /* the handler writes to this end of the pipe */

static void on_child(int number) {
  int kept = errno;
  (void)number;
  if (write(wakeup_write_end, "", 1) < 0) {
    /* Nothing to do: a full pipe wakes the guardian, too. */
  }
  errno = kept;
}

/* Sends a line to `zklock run`. If `zklock run` has ended, this fails, and the
 * next read from the channel reports that. */
#define report(guardian, ...) dprintf((guardian)->channel, __VA_ARGS__)

/* ---- The command's end --------------------------------------------------- */

/* A refusal in the first round is not reported, because the process may have
 * been about to end. */
static void kill_all(struct guardian *guardian, int64_t now) {
  bool begins = guardian->stage != KILLING;
  bool refused = processes_signal(guardian->group, SIGKILL, true);
  guardian->stage = KILLING;
  if (begins) {
    report(guardian, "killing\n");
  } else if (refused && !guardian->refused) {
    guardian->refused = true;
    report(guardian, "refused %d\n", SIGKILL);
  }
  guardian->next_kill =
      now + (guardian->refused ? LONG_SEARCH_PAUSE : SEARCH_PAUSE);
}

static void end(struct guardian *guardian, int64_t now, const char *why) {
  if (guardian->stage != RUNNING) return;
  guardian->stage = ENDING;
  guardian->must_end = true;
  guardian->kill_at = now + guardian->grace;
  bool refused = processes_signal(guardian->group, SIGTERM, true);
  processes_signal(guardian->group, SIGCONT, true);
  if (why) report(guardian, "ending %s\n", why);
  if (refused) report(guardian, "refused %d\n", SIGTERM);
}

/* Returns whether the lease ends within `margin`, so that the command must end
 * now. */
static bool lease_is_short(const struct guardian *guardian, int64_t now) {
  return now >= guardian->lease_end - guardian->margin;
}

/* `line`: "GRACE MAX_HOLD TOKEN". */
static void begin(struct guardian *guardian, char *line) {
  char **arguments = guardian->arguments;
  int problem;
  int64_t now = clock_now();
  if (guardian->stage != WAITING) return;
  if (lease_is_short(guardian, now)) {
    report(guardian, "failed %d the lock was lost before it was started\n",
           LOST);
    return;
  }
  guardian->grace = strtoll(line, &line, 10);
  int64_t max_hold = strtoll(line, &line, 10);
  guardian->hold_end = max_hold < 0 ? NEVER : now + max_hold;
  setenv("ZKLOCK_TOKEN", line + 1, 1);
  guardian->command = command_start(arguments, &guardian->inherited,
                                    &guardian->terminal, &problem);
  if (guardian->command > 0) {
    guardian->group = guardian->command;
    guardian->stage = RUNNING;
    report(guardian, "started %d\n", (int)guardian->command);
    return;
  }
  /* exec also fails with ENOENT if the command is a script whose interpreter is
   * missing. Such a command counts as found. */
  bool found = problem != ENOENT ||
               (strchr(arguments[0], '/') && access(arguments[0], F_OK) == 0);
  report(guardian, "failed %d %s\n", found ? NOT_EXECUTABLE : NOT_FOUND,
         strerror(problem));
}

static void pass_on(struct guardian *guardian, int number) {
  if (guardian->stage == WAITING || guardian->is_over) return;
  if (number == SIGTERM || number == SIGINT || number == SIGHUP ||
      number == SIGQUIT) {
    guardian->must_end = true;
    if (processes_signal(guardian->command, number, false))
      report(guardian, "refused %d\n", number);
  } else {
    kill(-guardian->command, number);
  }
  if (number == SIGTERM || number == SIGHUP) kill(-guardian->command, SIGCONT);
}

static void continue_command(struct guardian *guardian) {
  if (guardian->stage == WAITING || guardian->is_over) return;
  if (guardian->terminal.at_once)
    terminal_lend(&guardian->terminal, guardian->command);
  kill(-guardian->command, SIGCONT);
}

/* Called when the signal `number` has stopped the command. If the command used
 * the terminal from the background, lends it the terminal and continues it.
 * After Ctrl-Z, or if the terminal cannot be lent, takes the terminal back.
 * Then asks `zklock run` to stop, too. */
static void on_stopped(struct guardian *guardian, int number) {
  struct terminal *terminal = &guardian->terminal;
  bool wants = number == SIGTTIN || number == SIGTTOU;
  if (terminal->fd < 0 || (!wants && number != SIGTSTP)) return;
  if (wants && terminal_lend(terminal, guardian->command)) {
    terminal->at_once = true; /* lent again after a later stop */
    kill(-guardian->command, SIGCONT);
    return;
  }
  terminal_take_back(terminal, guardian->command);
  report(guardian, "stopped %d\n", number);
}

/* Called when the command's leader, its first process, has ended with `status`.
 * Ends the command's remaining processes if the command was asked to end, or if
 * a signal has killed the leader. Otherwise lets them run on. */
static void on_ended(struct guardian *guardian, int status) {
  guardian->is_over = true;
  guardian->status = status;
  terminal_take_back(&guardian->terminal, guardian->command);
  if (!guardian->must_end && !WIFSIGNALED(status)) return;
  guardian->must_end = true;
  if (processes_are_left(&guardian->group))
    end(guardian, clock_now(), WIFSIGNALED(status) ? "killed" : NULL);
}

static void reap(struct guardian *guardian) {
  pid_t pid;
  int status;
  while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
    if (pid != guardian->command) continue;
    if (WIFSTOPPED(status))
      on_stopped(guardian, WSTOPSIG(status));
    else
      on_ended(guardian, status);
  }
}

/* ---- Time ---------------------------------------------------------------- */

static void check_clock(struct guardian *guardian, int64_t now) {
  if (guardian->stage == RUNNING && !guardian->is_over) {
    if (now >= guardian->hold_end) end(guardian, now, "max-hold");
    if (lease_is_short(guardian, now)) end(guardian, now, "lease");
  }
  if (guardian->stage == ENDING &&
      (now >= guardian->kill_at || now >= guardian->lease_end))
    kill_all(guardian, now);
  if (guardian->stage == KILLING && now >= guardian->next_kill)
    kill_all(guardian, now);
}

static int64_t earlier(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t next_check(const struct guardian *guardian) {
  int64_t kill_at = earlier(guardian->kill_at, guardian->lease_end);
  switch (guardian->stage) {
    case RUNNING:
      return earlier(guardian->hold_end,
                     guardian->lease_end - guardian->margin);
    case ENDING:
      return guardian->is_over ? earlier(kill_at, clock_now() + SEARCH_PAUSE)
                               : kill_at;
    case KILLING:
      return guardian->next_kill;
    case WAITING:
      break;
  }
  return NEVER;
}

/* ---- Lines from `zklock run` --------------------------------------------- */

/* Ends the command because the lock is lost, for example because its node was
 * deleted. The command gets the whole grace period, unless the lease has ended.
 * So the clock is checked first: the guardian may not have noticed yet that the
 * lease has ended. */
static void on_lost(struct guardian *guardian, int64_t now) {
  check_clock(guardian, now);
  if (guardian->stage == WAITING) guardian->lease_end = 0;
  if (guardian->stage != RUNNING) return;
  guardian->lease_end = NEVER;
  end(guardian, now, NULL);
}

static void execute(struct guardian *guardian, char *line) {
  if (strncmp(line, "run ", 4) == 0) {
    begin(guardian, line + 4);
  } else if (strncmp(line, "lease ", 6) == 0) {
    guardian->lease_end = strtoll(line + 6, &line, 10);
    guardian->margin = strtoll(line, NULL, 10);
  } else if (strncmp(line, "signal ", 7) == 0) {
    pass_on(guardian, (int)strtol(line + 7, NULL, 10));
  } else if (strcmp(line, "continue") == 0) {
    continue_command(guardian);
  } else if (strcmp(line, "end") == 0) {
    on_lost(guardian, clock_now());
  }
}

/* Closes the channel and ends the command, because `zklock run` has ended. The
 * command gets its grace period, but no longer than the lease lasts. */
static void on_channel_closed(struct guardian *guardian) {
  close(guardian->channel);
  guardian->channel = -1;
  end(guardian, clock_now(), NULL);
}

/* Receives bytes from the channel and executes the complete lines. Returns
 * false if there is nothing more to read now, or if `zklock run` has ended. */
static bool read_channel(struct guardian *guardian) {
  char *line = guardian->line;
  ssize_t size =
      recv(guardian->channel, line + guardian->length,
           sizeof guardian->line - 1 - guardian->length, MSG_DONTWAIT);
  if (size < 0 && errno == EINTR) return true;
  if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
  if (size <= 0) {
    on_channel_closed(guardian);
    return false;
  }
  guardian->length += (size_t)size;
  line[guardian->length] = '\0';
  for (char *stop; (stop = strchr(line, '\n')); line = stop + 1) {
    *stop = '\0';
    execute(guardian, line);
  }
  guardian->length = strlen(line);
  memmove(guardian->line, line, guardian->length + 1);
  return true;
}

/* ---- The guardian's process ---------------------------------------------- */

static void wait_for_input(struct guardian *guardian) {
  char bytes[64];
  struct pollfd fds[3] = {{.fd = guardian->wakeup, .events = POLLIN},
                          {.fd = guardian->channel, .events = POLLIN}};
  clock_poll(&guardian->timer, fds, 2, next_check(guardian));
  while (read(guardian->wakeup, bytes, sizeof bytes) > 0) continue;
  reap(guardian);
  /* Reads all lines, so that the caller checks the clock with the newest lease.
   * If the guardian could not run for a while, many lines can be waiting. Their
   * first leases are old; only the last is current. */
  while (guardian->channel >= 0 && read_channel(guardian)) continue;
}

static bool is_done(struct guardian *guardian) {
  if (guardian->stage == WAITING) return guardian->channel < 0;
  return guardian->is_over &&
         !(guardian->must_end && processes_are_left(&guardian->group));
}

static void supervise(struct guardian *guardian) {
  while (!is_done(guardian)) {
    wait_for_input(guardian);
    check_clock(guardian, clock_now());
  }
  if (guardian->stage == WAITING) return;
  if (WIFSIGNALED(guardian->status))
    report(guardian, "signaled %d\n", WTERMSIG(guardian->status));
  else
    report(guardian, "exited %d\n", WEXITSTATUS(guardian->status));
}

/* Prepares the guardian's process. Its own process group protects it from
 * Ctrl-C and Ctrl-Z. It ignores the signals that a service manager sends to all
 * processes of a service. `zklock run` gets these signals, too, and passes them
 * on as lines on the channel. */
static void set_up(struct guardian *guardian) {
  static const int ignored[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU,
                                SIGUSR1, SIGUSR2, SIGALRM};
  int ends[2];
  if (pipe(ends) != 0) _exit(EXIT_FAILURE);
  for (int i = 0; i < 2; i++) {
    fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    fcntl(ends[i], F_SETFL, O_NONBLOCK);
  }
  clock_timer_open(&guardian->timer);
  guardian->wakeup = ends[0];
  wakeup_write_end = ends[1];
  for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
    signal(ignored[i], SIG_IGN);
  sigaction(SIGCHLD, &(struct sigaction){.sa_handler = on_child}, NULL);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_UNBLOCK, &all, NULL);
  setpgid(0, 0);
  processes_adopt_orphans();
#ifdef __linux__
  prctl(PR_SET_NAME, "zklock-guardian");
#endif
}

/* True in `zklock run` if two facts are known. It becomes the parent of the
 * command's processes if the guardian is killed, and it has no other children.
 * It has other children if a shell with children has replaced itself by `zklock
 * run` (exec). */
static bool adopts;

struct rest guardian_kill_rest(pid_t group) {
  struct rest rest = {.whole = adopts};
  rest.refused = processes_signal(group, SIGKILL, adopts);
  if (adopts || group > 0) {
    while (waitpid(adopts ? -1 : -group, NULL, WNOHANG) > 0) continue;
    rest.left = processes_are_left(&group) && (adopts || group > 0);
  }
  rest.group = group;
  return rest;
}

int guardian_start(char **arguments, int *pid) {
  struct guardian guardian = {.arguments = arguments};
  int ends[2];
  sigset_t all;
  siginfo_t info;
  adopts = waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0;
  inherited_signals_record(&guardian.inherited);
  terminal_open(&guardian.terminal);
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return -1;
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  *pid = fork();
  if (*pid == 0) {
    close(ends[0]);
    guardian.channel = ends[1];
    set_up(&guardian);
    supervise(&guardian);
    _exit(EXIT_SUCCESS);
  }
  int problem = errno;
  signal(SIGPIPE, SIG_IGN); /* a write to an ended guardian must only fail */
  signal(SIGTTOU, SIG_IGN); /* a message from the background must not stop it */
  adopts = adopts && processes_adopt_orphans();
  sigprocmask(SIG_SETMASK, &guardian.inherited.mask, NULL);
  close(ends[1]);
  if (guardian.terminal.fd >= 0) close(guardian.terminal.fd);
  if (*pid > 0) return ends[0];
  close(ends[0]);
  errno = problem;
  return -1;
}
