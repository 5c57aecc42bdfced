#include "stage_inside.h"

void add_text(char *text, const char *more) {
  size_t length = strlen(text);
  snprintf(text + length, TEXT - length, "%s%s", length > 0 ? ", " : "", more);
}

void settle(struct stage *s) {
  if (s->in_batch) return;
  session_run(&s->session, s->now);
  session_flush(&s->session);
  while (server_owes_heartbeat(s)) {
    server_answers_heartbeat(s);
    session_run(&s->session, s->now);
    session_flush(&s->session);
  }
}

/* Life. */

static void on_session(void *self, enum session_state state) {
  (void)self;
  (void)state;
}

static void on_warning(void *self, const char *message, const char *path,
                       int rc) {
  (void)self; /* (what it is to a contender comes with its refusal) */
  (void)message;
  (void)path;
  (void)rc;
}

static void open_session(void *self) {
  struct stage *s = self;
  s->wanted = true;
}

struct stage *begin(struct setting setting) {
  struct stage *s = calloc(1, sizeof *s);
  struct transport transport = {s, server_submit, open_session};
  struct listener listener = {s, on_session, on_warning};
  struct session_options options = {.chroot = "",
                                    .acl_may_deny = setting.acl_may_deny};
  memset(options.random, 0x5a, sizeof options.random);
  s->now = 1000 * 1000 * MILLISECOND;
  s->id = 1;
  s->timeout = (setting.timeout ? setting.timeout : 10000) * MILLISECOND;
  session_init(&s->session, &options, &transport, &listener, s->now);
  connects(s);
  return s;
}

void close_session(struct stage *s) {
  s->closed = true;
  server_is_gone(s);
  session_close(&s->session, s->now);
}

void end(struct stage *s) {
  if (!s->closed) close_session(s);
  session_free(&s->session);
  actors_free(s);
  server_free(s);
  free(s);
}

int counted(const struct stage *s, const char *counter) {
#define X(name)                    \
  if (strcmp(counter, #name) == 0) \
    return (int)session_counters(&s->session)->name;
  SESSION_COUNTERS(X)
#undef X
  test_fail("there is no counter %s", counter);
}

/* The connection. */

static void connect_as(struct stage *s, int64_t id) {
  s->id = id;
  server_is_gone(s);
  session_connected(&s->session, s->now, id, s->timeout, s->now);
  settle(s);
}

void connects(struct stage *s) { connect_as(s, s->id); }
void reconnects(struct stage *s) {
  disconnects(s);
  connects(s);
}
void connects_anew(struct stage *s) { connect_as(s, s->id + 1); }

void disconnects(struct stage *s) {
  server_is_gone(s);
  session_disconnected(&s->session, s->now);
  settle(s);
}

void expires(struct stage *s) {
  server_is_gone(s);
  session_expired(&s->session, s->now);
  settle(s);
}

void is_greeted(struct stage *s, int session, int milliseconds) {
  s->timeout = milliseconds * MILLISECOND;
  session_greeted(&s->session, s->now, s->id + session, s->timeout, s->now);
}

void attempts(struct stage *s) { session_attempting(&s->session, s->now); }

bool is_beyond_help(const struct stage *s) {
  return session_is_overdue(&s->session, s->now);
}

bool wants_session(struct stage *s) {
  bool wanted = s->wanted;
  s->wanted = false;
  return wanted;
}

/* The time. */

void passes(struct stage *s, int milliseconds) {
  int64_t until = s->now + milliseconds * MILLISECOND;
  while (s->now < until) {
    int64_t due = session_due(&s->session);
    s->now = due > s->now ? (due < until ? due : until) : s->now + MILLISECOND;
    settle(s);
  }
}

int passes_until_asked(struct stage *s, int most) {
  for (int passed = 0; passed <= most; passed++) {
    if (*oldest(s)) return passed;
    passes(s, 1);
  }
  return -1;
}

void together(struct stage *s) { s->in_batch = true; }
void apart(struct stage *s) {
  s->in_batch = false;
  settle(s);
}

int pace(struct stage *s) {
  int waited = 0;
  heartbeats_by_hand(s, true);
  for (int i = 0; i < 10; i++) {
    for (waited = 0; !*sent(s) && waited < 100000; waited++) passes(s, 1);
    stage_happens(s, "heartbeat");
  }
  return waited;
}
