#include "host_lookup.h"

#include "clock.h"
#include "protocol/timer.h"
#include "resolver.h"

#define SECOND INT64_C(1000000000)
#define PAUSE_FIRST SECOND
#define PAUSE_MAX (5 * SECOND)
#define RETRY_AFTER (SECOND / 10)

void host_lookup_init(struct host_lookup *w, const struct hosts *hosts,
                      const struct wakeup *wakeup) {
  *w = (struct host_lookup){.hosts = hosts,
                            .wakeup = wakeup,
                            .due = NEVER,
                            .pause = PAUSE_FIRST};
}

static void wake_up(void *self) { wakeup_signal(self); }

void host_lookup_ask(struct host_lookup *w) {
  w->due = NEVER;
  if (w->resolver) return;
  w->resolver = resolver_start(w->hosts, wake_up, (void *)w->wakeup);
  if (!w->resolver) host_lookup_ask_in(w, RETRY_AFTER);
}

void host_lookup_ask_in(struct host_lookup *w, int64_t pause) {
  w->due = clock_now() + pause;
}

void host_lookup_ask_again(struct host_lookup *w) {
  if (!resolver_is_numeric(w->hosts)) host_lookup_ask_in(w, w->pause);
}

void host_lookup_ask_after_loss(struct host_lookup *w) {
  w->pause = PAUSE_FIRST;
  host_lookup_ask_again(w);
}

void host_lookup_cancel(struct host_lookup *w) { w->due = NEVER; }

const char *host_lookup_answer(struct host_lookup *w, const char **error,
                               bool *temporary) {
  if (!w->resolver) return NULL;
  const char *list = resolver_result(w->resolver, error, temporary);
  if (!list) return NULL;
  w->pause = w->pause / 2 * 3;
  if (w->pause > PAUSE_MAX) w->pause = PAUSE_MAX;
  return list;
}

void host_lookup_done(struct host_lookup *w) {
  resolver_abandon(w->resolver);
  w->resolver = NULL;
}
