#include "terminal.h"

#include <fcntl.h>
#include <unistd.h>

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
