/* The lock that many take who have a Redis, behind the protocol of
 * bench/README.md: SET NX PX, a script that deletes the key of its holder, and
 * to wait is to try again.
 *
 *     driver HOST:PORT
 *
 * What it gives up: there is no queue, so that whoever releases it has it again
 * at once while the others sleep (`repeats=` counts these grants), and a waiter
 * may wait for ever; no fencing token; no quorum, for a replica that takes over
 * may not have heard of the lock; and nobody tells a holder that its time is
 * over. */
#include <errno.h>
#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "run.h"

#define LINE_SIZE 1024

/* The words of a `start`; NULL where they are not given. */
struct words {
  const char *workload, *path, *workers, *work_us, *warm_ms, *local_turns,
      *scheme;
};

struct driver {
  uv_loop_t loop;
  uv_poll_t input;
  char host[64];
  int port;
  struct run *run;
  char line[LINE_SIZE];
  size_t length;
  bool over; /* the input is */
};

/* ---- What it says -------------------------------------------------------- */

static void say(const char *text) { printf("%s\n", text); }

/* An error's text is one word. */
static void say_error(const char *text) {
  printf("error text=");
  for (; *text; text++) putchar(*text == ' ' ? '_' : *text);
  putchar('\n');
}

/* Writes the server's version into `version`. */
static void ask_version(const struct driver *driver, char version[32]) {
  redisContext *context = redisConnect(driver->host, driver->port);
  redisReply *reply = NULL;
  const char *found = NULL;
  strcpy(version, "unknown");
  if (context && !context->err) reply = redisCommand(context, "INFO server");
  if (reply && reply->type == REDIS_REPLY_STRING) {
    found = strstr(reply->str, "redis_version:");
  }
  if (found) sscanf(found, "redis_version:%31[^\r\n]", version);
  freeReplyObject(reply);
  if (context) redisFree(context);
}

/* ---- What it is told ----------------------------------------------------- */

/* False if it is no key=value. Keys that are not known are passed over. */
static bool note_word(struct words *words, char *word) {
  struct {
    const char *key;
    const char **value;
  } known[] = {
      {"workload", &words->workload}, {"path", &words->path},
      {"workers", &words->workers},   {"work_us", &words->work_us},
      {"warm_ms", &words->warm_ms},   {"local_turns", &words->local_turns},
      {"scheme", &words->scheme},
  };
  char *value = strchr(word, '=');
  if (!value) return false;
  *value++ = '\0';
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strcmp(word, known[i].key) == 0) *known[i].value = value;
  }
  return true;
}

/* Reads a number, or takes the default; negative: it is none. */
static long number(const char *text, long otherwise) {
  char *end;
  if (!text) return otherwise;
  long value = strtol(text, &end, 10);
  return *end || end == text ? -1 : value;
}

static bool can_do(const struct words *words) {
  static const char *const workloads[] = {"W1", "W1p", "W2", "W4"};
  if (words->local_turns || words->scheme) return false;
  for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
    if (strcmp(words->workload, workloads[i]) == 0) return true;
  }
  return false;
}

static void stop(struct driver *driver) {
  struct run *run = driver->run;
  bool ended = run_stop(run);
  const char *problem = run_problem(run);
  driver->run = NULL;
  if (problem) {
    say_error(problem);
  } else {
    say(ended ? "stopped" : "error text=it_does_not_end");
  }
  if (ended) run_free(run);
}

static void start(struct driver *driver, const struct words *words) {
  struct run_options options = {.port = driver->port};
  long workers = number(words->workers, 1);
  long work_us = number(words->work_us, 0);
  long warm_ms = number(words->warm_ms, 300);
  if (driver->run) {
    say_error("a workload is running");
    return;
  }
  if (!words->workload || !words->path ||
      strlen(words->path) >= sizeof options.path || workers < 1 ||
      workers > 100000 || work_us < 0 || warm_ms < 0) {
    say_error("a word is missing or wrong");
    return;
  }
  if (!can_do(words)) {
    say("unsupported");
    return;
  }
  strcpy(options.host, driver->host);
  strcpy(options.path, words->path);
  options.workers = (int)workers;
  options.own_connections = strcmp(words->workload, "W2") == 0;
  options.own_paths = strncmp(words->workload, "W1", 2) == 0;
  options.work_ms = (unsigned)((work_us + 999) / 1000);
  options.warm_ms = (unsigned)warm_ms;
  driver->run = run_start(&driver->loop, &options);
  if (!driver->run) {
    say_error("there is no memory");
  } else if (run_problem(driver->run)) {
    stop(driver);
  } else {
    say("running");
  }
}

static void obey(struct driver *driver, char *line) {
  struct words words = {0};
  char *rest = NULL;
  const char *command = strtok_r(line, " ", &rest);
  for (char *word; (word = strtok_r(NULL, " ", &rest));) {
    if (!note_word(&words, word)) {
      say_error("a word is no key=value");
      return;
    }
  }
  if (command && strcmp(command, "start") == 0) {
    start(driver, &words);
  } else if (!command ||
             (strcmp(command, "sample") != 0 && strcmp(command, "stop") != 0)) {
    say_error("there is no such command");
  } else if (!driver->run) {
    say_error("nothing is running");
  } else if (strcmp(command, "stop") == 0) {
    stop(driver);
  } else if (run_problem(driver->run)) {
    say_error(run_problem(driver->run));
  } else {
    run_sample(driver->run);
  }
}

/* ---- Lines --------------------------------------------------------------- */

static void on_input(uv_poll_t *input, int status, int events) {
  struct driver *driver = input->data;
  size_t room = sizeof driver->line - driver->length;
  ssize_t got;
  (void)status;
  (void)events;
  if (room == 0) return;
  got = read(STDIN_FILENO, driver->line + driver->length, room);
  if (got > 0) {
    driver->length += (size_t)got;
  } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
    driver->over = true;
    uv_poll_stop(input);
  }
}

/* Takes the next line into `line`, and turns the loop until it is there. False
 * at the input's end, and for a line that is too long. */
static bool next_line(struct driver *driver, char line[LINE_SIZE]) {
  char *end;
  while (!(end = memchr(driver->line, '\n', driver->length))) {
    if (driver->over || driver->length == sizeof driver->line) return false;
    uv_run(&driver->loop, UV_RUN_ONCE);
  }
  size_t size = (size_t)(end - driver->line);
  memcpy(line, driver->line, size);
  line[size] = '\0';
  driver->length -= size + 1;
  memmove(driver->line, end + 1, driver->length);
  return true;
}

int main(int count, char **arguments) {
  static struct driver driver;
  char line[LINE_SIZE], version[32];
  if (count != 2 ||
      sscanf(arguments[1], "%63[^:]:%d", driver.host, &driver.port) != 2) {
    fprintf(stderr, "driver HOST:PORT\n");
    return 64;
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  uv_loop_init(&driver.loop);
  uv_poll_init(&driver.loop, &driver.input, STDIN_FILENO);
  driver.input.data = &driver;
  if (uv_poll_start(&driver.input, UV_READABLE, on_input) != 0) {
    fprintf(stderr, "the input is no pipe\n");
    return 1;
  }
  ask_version(&driver, version);
  printf("driver protocol=1 name=redis version=%s workloads=W1,W1p,W2,W4\n",
         version);
  while (next_line(&driver, line) && strcmp(line, "quit") != 0) {
    obey(&driver, line);
  }
  if (driver.run) run_stop(driver.run);
  return 0;
}
