#include "processes.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

struct process {
  pid_t pid, parent, group;
  bool below; /* a descendant of the ancestor */
  bool ended; /* its first thread has ended; others can run */
};

/* Reads the line "pid (name) state parent group …" from /proc/PID/stat into
 * `process`. The name can contain any character, so it ends at the last
 * parenthesis of the line. Returns false if the line cannot be read. */
static bool read_process(pid_t pid, struct process *process) {
  char path[40], text[512];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  FILE *file = fopen(path, "re");
  if (!file) return false;
  size_t size = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[size] = '\0';
  const char *behind = strrchr(text, ')');
  char state;
  int parent, group;
  if (!behind || sscanf(behind, ") %c %d %d", &state, &parent, &group) != 3)
    return false;
  *process = (struct process){.pid = pid,
                              .parent = parent,
                              .group = group,
                              .ended = state == 'Z' || state == 'X'};
  return true;
}

static struct process *add(struct process *all, int n, pid_t pid) {
  if ((n & (n - 1)) == 0) { /* a power of two: the array is full */
    struct process *more = realloc(all, (size_t)(n ? 2 * n : 1) * sizeof *all);
    if (!more) return NULL;
    all = more;
  }
  if (!read_process(pid, &all[n])) all[n] = (struct process){.pid = 0};
  return all;
}

/* Returns whether /proc shows the PID namespace of this process. The /proc of
 * another namespace shows other ids, which `kill` must not get. */
static bool is_own_proc(void) {
  char text[32];
  ssize_t size = readlink("/proc/self", text, sizeof text - 1);
  text[size > 0 ? size : 0] = '\0';
  return strtol(text, NULL, 10) == getpid();
}

/* Returns an array of all processes, and sets `*count` to their number. If
 * memory runs out, returns only some of them. The caller frees the array. */
static struct process *read_all(int *count) {
  struct process *all = NULL;
  DIR *directory = is_own_proc() ? opendir("/proc") : NULL;
  const struct dirent *entry;
  *count = 0;
  while (directory && (entry = readdir(directory))) {
    pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
    if (pid <= 0) continue;
    struct process *more = add(all, *count, pid);
    if (!more) break;
    all = more;
    ++*count;
  }
  if (directory) closedir(directory);
  return all;
}

static int by_pid(const void *a, const void *b) {
  pid_t x = ((const struct process *)a)->pid;
  pid_t y = ((const struct process *)b)->pid;
  return (x > y) - (x < y);
}

static bool is_below(const struct process *all, int n, pid_t pid) {
  struct process wanted = {.pid = pid};
  const struct process *it =
      bsearch(&wanted, all, (size_t)n, sizeof *all, by_pid);
  return it && it->below;
}

/* Sets `below` for each descendant of `ancestor`. Repeats the pass until
 * nothing changes, because a child can precede its parent in the array. */
static void mark(struct process *all, int n, pid_t ancestor) {
  for (bool again = true; again;) {
    again = false;
    for (int i = 0; i < n; i++) {
      pid_t parent = all[i].parent;
      if (all[i].below || all[i].pid == 0) continue;
      if (parent == ancestor || is_below(all, n, parent))
        all[i].below = again = true;
    }
  }
}

/* `kill` on a group succeeds even if only one process got the signal. So this
 * also searches for the processes of the group that did not get it. If /proc
 * hides them, only the result of `kill` shows that all have refused. */
bool processes_signal(pid_t group, int number, bool outside) {
  int n;
  bool refused = group > 0 && kill(-group, number) < 0 && errno == EPERM;
  struct process *all = read_all(&n);
  if (n > 0) qsort(all, (size_t)n, sizeof *all, by_pid);
  if (outside) mark(all, n, getpid());
  for (int i = 0; i < n; i++) {
    bool is_member = group > 0 && all[i].group == group;
    if (all[i].pid == 0 || !(is_member || all[i].below)) continue;
    /* The members of the group have already received the signal. They get
     * signal 0, by which `kill` only checks whether they can be signalled. */
    bool failed = kill(all[i].pid, is_member ? 0 : number) < 0;
    if (failed && errno == EPERM && !all[i].ended) refused = true;
  }
  free(all);
  return refused;
}

bool processes_adopt_orphans(void) {
#ifdef __linux__
  return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
#else
  return false;
#endif
}

/* Processes of other users count, too: for them, `kill` fails with EPERM, not
 * ESRCH. WNOWAIT makes waitid leave an ended child for a later waitpid. */
bool processes_are_left(pid_t *group) {
  siginfo_t info;
  if (*group > 0 && kill(-*group, 0) < 0 && errno == ESRCH) *group = 0;
  if (*group > 0) return true;
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}
