/* Three ways.
 *
 * With glibc gethostbyname2_r, once for IPv4 and once for IPv6: getaddrinfo
 * sorts what it has found, and asks for the interfaces of the machine under a
 * lock that the client library's own getaddrinfo of a numeric address needs as
 * well.  If a fork came then, its child could never connect.  The locks that
 * gethostbyname2_r takes are needed by names alone.  (As with getaddrinfo a
 * name that /etc/hosts knows by one family makes no question to the network
 * about the other.)
 *
 * In the child of a fork that came during a look-up those locks, or some of a
 * module of the name service, may be held for ever: a program is asked that
 * knows nothing of them, getent(1).
 *
 * Elsewhere getaddrinfo. */
#include "lookup.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "descriptors.h"
#include "fork.h"

bool ips_add(struct ips *ips, const char *ip) {
  if (ips->count == ips->room) {
    size_t room = ips->room ? 2 * ips->room : 8;
    void *list = realloc(ips->list, room * sizeof *ips->list);
    if (!list) return false;
    ips->list = list;
    ips->room = room;
  }
  snprintf(ips->list[ips->count++], sizeof *ips->list, "%s", ip);
  return true;
}

void ips_free(struct ips *ips) {
  free(ips->list);
  *ips = (struct ips){0};
}

/* getaddrinfo takes no lock for a numeric address without AI_ADDRCONFIG. */
static int by_getaddrinfo(struct ips *ips, const char *name, int flags) {
  struct addrinfo hints = {.ai_family = AF_UNSPEC,
                           .ai_socktype = SOCK_STREAM,
                           .ai_flags = flags};
  struct addrinfo *found;
  int rc = getaddrinfo(name, NULL, &hints, &found);
  if (rc != 0) return rc;
  for (struct addrinfo *a = found; rc == 0 && a; a = a->ai_next) {
    char ip[IP_MAX];
    rc = getnameinfo(a->ai_addr, a->ai_addrlen, ip, sizeof ip, NULL, 0,
                     NI_NUMERICHOST);
    if (rc == 0 && !ips_add(ips, ip)) rc = EAI_MEMORY;
  }
  freeaddrinfo(found);
  return rc;
}

bool lookup_numeric(struct ips *ips, const char *name) {
  return by_getaddrinfo(ips, name, AI_NUMERICHOST) == 0;
}

#ifdef __GLIBC__

static int add_entry(struct ips *ips, const struct hostent *entry) {
  for (char **a = entry->h_addr_list; *a; a++) {
    char ip[IP_MAX];
    if (inet_ntop(entry->h_addrtype, *a, ip, sizeof ip) && !ips_add(ips, ip))
      return EAI_MEMORY;
  }
  return 0;
}

static int code_of(int problem) {
  switch (problem) {
    case HOST_NOT_FOUND:
    case NO_DATA:
      return EAI_NONAME;
    case TRY_AGAIN:
      return EAI_AGAIN;
    default:
      return EAI_FAIL;
  }
}

static int by_family(struct ips *ips, const char *name, int family) {
  enum { LARGEST = 1 << 24 };
  for (size_t size = 4096; size <= LARGEST; size *= 4) {
    struct hostent entry, *found = NULL;
    int problem = 0;
    char *space = malloc(size);
    if (!space) break;
    int rc =
        gethostbyname2_r(name, family, &entry, space, size, &found, &problem);
    int code = found ? add_entry(ips, found) : code_of(problem);
    free(space);
    if (rc != ERANGE) return code;
  }
  return EAI_MEMORY;
}

static bool line_has(char *line, const char *name, bool *is_v6) {
  char *rest, *comment = strchr(line, '#');
  if (comment) *comment = '\0';
  char *ip = strtok_r(line, " \t\r\n", &rest);
  if (!ip) return false;
  *is_v6 = strchr(ip, ':') != NULL;
  for (char *word; (word = strtok_r(NULL, " \t\r\n", &rest)) != NULL;)
    if (strcasecmp(word, name) == 0) return true;
  return false;
}

/* Which families are to be asked for. */
static void choose_families(const char *name, bool *v4, bool *v6) {
  FILE *file = fopen("/etc/hosts", "re");
  char *line = NULL;
  size_t size = 0;
  bool is_v6;
  *v4 = *v6 = false;
  while (file && getline(&line, &size, file) >= 0)
    if (line_has(line, name, &is_v6)) *(is_v6 ? v6 : v4) = true;
  if (!*v4 && !*v6) *v4 = *v6 = true;
  free(line);
  if (file) fclose(file);
}

static int in_process(struct ips *ips, const char *name) {
  bool ask_v4, ask_v6;
  choose_families(name, &ask_v4, &ask_v6);
  int v4 = ask_v4 ? by_family(ips, name, AF_INET) : EAI_NONAME;
  int v6 = ask_v6 ? by_family(ips, name, AF_INET6) : EAI_NONAME;
  if (v4 == EAI_MEMORY || v6 == EAI_MEMORY) return EAI_MEMORY;
  if (v4 == 0 || v6 == 0) return 0;
  return v4 == EAI_NONAME ? v6 : v4;
}

/* Another program. */

static bool take_line(struct ips *ips, const char *line) {
  char ip[IP_MAX], kind[16];
  if (sscanf(line, "%63s %15s", ip, kind) != 2 || strcmp(kind, "STREAM") != 0)
    return true;
  return ips_add(ips, ip);
}

static int read_answer(struct ips *ips, int fd) {
  FILE *answer = fdopen(fd, "r");
  char line[512];
  int code = 0;
  if (!answer) {
    close(fd);
    return EAI_MEMORY;
  }
  while (fgets(line, sizeof line, answer))
    if (!take_line(ips, line)) code = EAI_MEMORY;
  fclose(answer);
  return code;
}

/* Nothing of this process reaches it but its environment. */
static bool start_getent(const char *name, int output, pid_t *pid) {
  char *const words[] = {"getent", "ahosts", "--", (char *)name, NULL};
  extern char **environ;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t set;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  sigemptyset(&set);
  posix_spawnattr_setsigmask(&attributes, &set);
  sigaddset(&set, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &set);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  bool ok = posix_spawn_file_actions_adddup2(&actions, output, 1) == 0 &&
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY,
                                             0) == 0 &&
            posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY,
                                             0) == 0;
#if __GLIBC_PREREQ(2, 34)
  ok = ok && posix_spawn_file_actions_addclosefrom_np(&actions, 3) == 0;
#endif
  ok = ok &&
       posix_spawnp(pid, "getent", &actions, &attributes, words, environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return ok;
}

/* False: it cannot be asked. */
static bool by_getent(struct ips *ips, const char *name, int *code) {
  int fds[2], status = 0;
  pid_t pid;
  if (!descriptors_pipe(fds)) return false;
  fcntl(fds[0], F_SETFL, 0);
  fcntl(fds[1], F_SETFL, 0);
  bool started = start_getent(name, fds[1], &pid);
  close(fds[1]);
  if (!started) {
    close(fds[0]);
    return false;
  }
  size_t before = ips->count;
  *code = read_answer(ips, fds[0]);
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) return false;
  /* Why there is none it does not tell. */
  if (*code == 0 && ips->count == before) *code = EAI_AGAIN;
  return true;
}

#else

static int in_process(struct ips *ips, const char *name) {
  return by_getaddrinfo(ips, name, 0);
}

static bool by_getent(struct ips *ips, const char *name, int *code) {
  (void)ips;
  (void)name;
  (void)code;
  return false;
}

#endif

int lookup_name(struct ips *ips, const char *name, char reason[80]) {
  int code;
  if (!fork_bars_lookups() || !by_getent(ips, name, &code)) {
    fork_lookup_begin();
    code = in_process(ips, name);
    fork_lookup_end();
  }
  fork_gate_enter(); /* the words may be translated */
  snprintf(reason, 80, "%s", code ? gai_strerror(code) : "");
  fork_gate_leave();
  return code;
}
