/* A getaddrinfo(3) that knows the names of the file $NAMES: each line is a name
 * and its addresses, or nothing (no such name).  Every look-up of such a name
 * goes on $NAMES.log: a line with the name.  The look-up that finds a file
 * $NAMES.hold hangs while there is $NAMES.held, what it becomes.  One look-up
 * at a time, as with some modules of the real resolver.  Loaded with
 * LD_PRELOAD: see support.names. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int resolve(const char *, const char *, const struct addrinfo *,
                    struct addrinfo **);

/* The rest of the name's line; NULL: it has none. */
static char *look_up(const char *name, char *line, int size) {
  size_t length = strlen(name);
  FILE *file = fopen(getenv("NAMES"), "re");
  char *found = NULL;
  while (file && !found && fgets(line, size, file))
    if (!strncmp(line, name, length) && strchr(" \n", line[length]))
      found = line + length;
  if (file) fclose(file);
  return found;
}

static void note(const char *name) {
  char log[200];
  snprintf(log, sizeof log, "%s.log", getenv("NAMES"));
  FILE *file = fopen(log, "ae");
  fprintf(file, "%s\n", name);
  fclose(file);
}

static void hang_if_held(void) {
  char hold[200], held[200];
  snprintf(hold, sizeof hold, "%s.hold", getenv("NAMES"));
  snprintf(held, sizeof held, "%s.held", getenv("NAMES"));
  if (rename(hold, held) != 0) return;
  while (access(held, F_OK) == 0) usleep(1000);
}

/* 0, and the addresses in `line`; or EAI_…. */
static int answer(const char *name, char *line, int size, char **addresses) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  hang_if_held();
  *addresses = look_up(name, line, size);
  pthread_mutex_unlock(&lock);
  return *addresses ? 0 : EAI_NONAME;
}

static int is_ours(const char *name) {
  static char ours[] = ".example";
  size_t length = name ? strlen(name) : 0;
  return length >= sizeof ours && !strcmp(name + length - strlen(ours), ours);
}

int getaddrinfo(const char *name, const char *port,
                const struct addrinfo *hints, struct addrinfo **found) {
  resolve *real = (resolve *)dlsym(RTLD_NEXT, "getaddrinfo");
  char line[4096], *addresses, *state;
  if ((hints && hints->ai_flags & AI_NUMERICHOST) || !is_ours(name))
    return real(name, port, hints, found);
  note(name);
  int rc = answer(name, line, sizeof line, &addresses);
  if (rc) return rc;
  rc = EAI_NONAME;
  for (char *address = strtok_r(addresses, " \n", &state); address;
       address = strtok_r(NULL, " \n", &state)) {
    rc = real(address, port, hints, found);
    if (rc) break;
    while (*found) found = &(*found)->ai_next; /* the next goes behind it */
  }
  return rc;
}
