/* What a stock client library that has TLS does with a server:
 *
 *   native HOST CA,CERT,KEY SECONDS [FILES]
 *
 * with so many files open prints in one line `connected` if it came so far, the answers to COUNT
 * questions asked at once then, and how it ended: `done`, `refused` with the
 * library's code, `blocked` (a call of the library's did not return) or `late`.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

enum { COUNT = 50, TIMEOUT_MS = 4000 };

/* The header shows it to those who compile with OpenSSL's. */
zhandle_t *zookeeper_init_ssl(const char *host, const char *files,
                              watcher_fn fn, int timeout_ms,
                              const clientid_t *id, void *context, int flags);

static int answers;

static void on_event(zhandle_t *zh, int type, int state, const char *path,
                     void *context) {
  (void)zh, (void)type, (void)state, (void)path, (void)context;
}

static void on_answer(int rc, const struct Stat *stat, const void *data) {
  (void)rc, (void)stat, (void)data;
  answers++;
}

static void on_alarm(int signal) {
  static const char text[] = "blocked\n";
  (void)signal;
  _exit(write(STDOUT_FILENO, text, sizeof text - 1) < 0);
}

/* One turn of the library's; what it says. */
static int turn(zhandle_t *zh) {
  struct pollfd p = {.fd = -1};
  struct timeval wait;
  int interest = 0, rc = zookeeper_interest(zh, &p.fd, &interest, &wait);
  if (rc != ZOK) return rc;
  p.events = (short)((interest & ZOOKEEPER_READ ? POLLIN : 0) |
                     (interest & ZOOKEEPER_WRITE ? POLLOUT : 0));
  poll(&p, 1, 20);
  rc = zookeeper_process(zh, (p.revents & POLLIN ? ZOOKEEPER_READ : 0) |
                                 (p.revents & POLLOUT ? ZOOKEEPER_WRITE : 0));
  return rc == ZNOTHING ? ZOK : rc;
}

static void ask(zhandle_t *zh) {
  printf("connected ");
  fflush(stdout);
  for (int i = 0; i < COUNT; i++) zoo_aexists(zh, "/", 0, on_answer, NULL);
}

static void talk(zhandle_t *zh, time_t end) {
  bool connected = false;
  while (time(NULL) < end && answers < COUNT) {
    int rc = turn(zh);
    if (rc != ZOK) {
      printf("%d refused %d\n", answers, rc);
      return;
    }
    if (connected || zoo_state(zh) != ZOO_CONNECTED_STATE) continue;
    connected = true;
    ask(zh);
  }
  printf("%d %s\n", answers, answers == COUNT ? "done" : "late");
}

static bool open_files(int count) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  while (count-- > 0)
    if (open("/dev/null", O_RDONLY) < 0) return false;
  return true;
}

int main(int argc, char **argv) {
  if (argc < 4 || argc > 5) return 2;
  if (argc == 5 && !open_files(atoi(argv[4]))) return 2;
  int seconds = atoi(argv[3]);
  zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
  zhandle_t *zh = zookeeper_init_ssl(argv[1], argv[2], on_event, TIMEOUT_MS,
                                     NULL, NULL, ZOO_NO_LOG_CLIENTENV);
  if (!zh) return 2;
  signal(SIGALRM, on_alarm);
  alarm((unsigned)seconds + 2);
  talk(zh, time(NULL) + seconds);
  return 0;
}
