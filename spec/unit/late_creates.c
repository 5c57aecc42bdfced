#include <stdio.h>

#include "protocol/queue.h"
#include "protocol/session.h"
#include "test.h"

ABOUT("The lists for late creates");

enum { DIRECTORIES = 1000 };

static const int64_t timeout = 4000000000;

static void on_session(void *self, enum session_state state) {
  (void)self;
  (void)state;
}

/* Whether one turn wants a list of each of so many directories; and the pause
 * until the next turn. */
static int64_t pause_after(int directories) {
  static struct session s;
  struct session_options options = {.chroot = ""};
  struct transport transport = {NULL, NULL, NULL};
  struct listener listener = {NULL, on_session, NULL};
  session_init(&s, &options, &transport, &listener, 0);
  s.pipeline.timeout = timeout;
  for (int i = 0; i < directories; i++) {
    char path[20];
    snprintf(path, sizeof path, "/lock%d", i);
    struct queue *queue = queues_get(&s.queues, path);
    CHECK(queue != NULL);
    queue->late_create_possible = true;
  }
  queues_each(&s.queues, late_creates_list);
  for (struct queue *q = s.queues.newest; q; q = q->older)
    CHECK(q->directory.list_wanted);
  int64_t pause = s.all.late_list_at;
  queues_each(&s.queues, late_creates_end);
  session_close(&s, 0);
  session_free(&s);
  return pause;
}

TEST("are an eighth to a quarter of the session timeout apart") {
  int64_t pause = pause_after(1);
  CHECK(pause >= timeout / 8 && pause <= timeout / 4);
}

TEST("are further apart if there are many directories") {
  int64_t pause = pause_after(DIRECTORIES);
  CHECK(pause >= timeout / 4 * (DIRECTORIES - 1) / 100);
  CHECK(pause <= timeout / 4 * (DIRECTORIES + 100) / 100);
}
