#include "whereabouts.h"

#include "clock.h"
#include "protocol/timer.h"
#include "resolver.h"

#define SECOND INT64_C(1000000000)
#define PAUSE_FIRST SECOND
#define PAUSE_MAX (5 * SECOND)
#define RETRY_AFTER (SECOND / 10)

void whereabouts_init(struct whereabouts *w, const struct hosts *hosts,
                      const struct wakeup *wakeup) {
  *w = (struct whereabouts){.hosts = hosts,
                            .wakeup = wakeup,
                            .due = NEVER,
                            .pause = PAUSE_FIRST};
}

static void wake_up(void *self) { wakeup_signal(self); }

void whereabouts_ask(struct whereabouts *w) {
  w->due = NEVER;
  if (w->resolver) return;
  w->resolver = resolver_start(w->hosts, wake_up, (void *)w->wakeup);
  if (!w->resolver) whereabouts_ask_in(w, RETRY_AFTER);
}

void whereabouts_ask_in(struct whereabouts *w, int64_t pause) {
  w->due = clock_now() + pause;
}

void whereabouts_ask_again(struct whereabouts *w) {
  if (!resolver_is_numeric(w->hosts)) whereabouts_ask_in(w, w->pause);
}

void whereabouts_expect_moves(struct whereabouts *w) {
  w->pause = PAUSE_FIRST;
  whereabouts_ask_again(w);
}

void whereabouts_rest(struct whereabouts *w) { w->due = NEVER; }

const char *whereabouts_answer(struct whereabouts *w, const char **error,
                               bool *temporary) {
  if (!w->resolver) return NULL;
  const char *list = resolver_result(w->resolver, error, temporary);
  if (!list) return NULL;
  w->pause = w->pause / 2 * 3;
  if (w->pause > PAUSE_MAX) w->pause = PAUSE_MAX;
  return list;
}

void whereabouts_done(struct whereabouts *w) {
  resolver_abandon(w->resolver);
  w->resolver = NULL;
}
