#include "io/ask.h"

#include <stdio.h>
#include <string.h>

#include "io/clock.h"
#include "test.h"

ABOUT("The limit of requests in flight");

enum { TIMEOUT = 10, REQUESTS = 200 };
#define SECOND INT64_C(1000000000)

static struct session session;
static struct asks asks;
static uint64_t serials[REQUESTS];
static int sent, answered, ended;
static char paths[REQUESTS + 1]; /* what the paths of the requests end with */

static bool submit(void *self, const struct op *op, const struct op *before) {
  (void)self;
  (void)before;
  if (op->kind == OP_HEARTBEAT || sent == REQUESTS) return true;
  paths[sent] = op->path[strlen(op->path) - 1];
  serials[sent++] = op->serial;
  return true;
}

static void nothing(void *self) { (void)self; }

static void hear_state(void *self, enum session_state state) {
  (void)self;
  (void)state;
}

static void end(void *self, struct ask *ask) {
  (void)self;
  ended++;
  subject_drop(&ask->subject);
}

static void begin(void) {
  struct session_options options = {.chroot = ""};
  struct transport transport = {.submit = submit, .open = nothing};
  struct listener listener = {.session = hear_state};
  int64_t now = clock_now();
  sent = answered = ended = 0;
  memset(paths, 0, sizeof paths);
  session_init(&session, &options, &transport, &listener, now);
  session_open(&session, now);
  session_connected(&session, now, 1, TIMEOUT * SECOND, now);
  asks_init(&asks, &session, end, NULL);
}

/* Asks for so many nodes, each of which has about so many bytes. */
static void get(const char *path, int count, int bytes) {
  struct ask *ask = ask_new(count, 0, 0);
  struct asked asked = {.operation = {"get", 3},
                        .path = {path, strlen(path)},
                        .number = bytes};
  CHECK(ask);
  for (int i = 0; i < count; i++) CHECK(ask_add(ask, "", &asked) == ASK_OK);
  ask_begin(ask, &asks);
  session_run(&session, clock_now());
}

static void answer(void) {
  const struct reply reply = {.rc = REPLY_NO_NODE};
  session_reply(&session, clock_now(), serials[answered++], &reply);
  session_run(&session, clock_now());
}

static void finish(int asks_begun) {
  while (answered < sent) answer();
  CHECK_INT(asks_begun, ended);
  CHECK_INT(0, asks.requests);
  CHECK_INT(0, asks.bytes);
  session_close(&session, clock_now());
  session_free(&session);
}

TEST("admits up to 4 MiB, for any number of requests") {
  begin();
  get("/a", 100, 1024 * 1024);
  CHECK_INT(4, sent);
  answer();
  CHECK_INT(5, sent);
  CHECK_INT(ASK_BYTES, asks.bytes);
  finish(1);
}

TEST("admits one that is larger when none is in flight, and alone") {
  begin();
  get("/a", 1, 10);
  get("/b", 2, ASK_BYTES + 1);
  CHECK_TEXT("a", paths);
  answer();
  CHECK_TEXT("ab", paths);
  get("/c", 1, 1);
  CHECK_TEXT("ab", paths);
  answer();
  CHECK_TEXT("abb", paths);
  answer();
  CHECK_TEXT("abbc", paths);
  finish(3);
}

TEST("gives each ask its turn") {
  begin();
  get("/-", 4, ASK_BYTES / 4);
  get("/a", 3, ASK_BYTES / 4);
  get("/b", 2, ASK_BYTES / 4);
  for (int i = 0; i < 5; i++) answer();
  CHECK_TEXT("----ababa", paths);
  finish(3);
}
