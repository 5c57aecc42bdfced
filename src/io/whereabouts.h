/* Looks up the addresses of the servers. While there is no connection, it
 * repeats that every few seconds, because the servers may have moved. */
#ifndef ZKLOCK_WHEREABOUTS_H
#define ZKLOCK_WHEREABOUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "hosts.h"
#include "wakeup.h"

#pragma GCC visibility push(hidden)

/* Used by the I/O thread only, except (c): constant. */
struct whereabouts {
  const struct hosts *hosts;   /* (c) */
  const struct wakeup *wakeup; /* (c) */
  struct resolver *resolver;   /* running, or NULL */
  int64_t due;                 /* when to look up; NEVER */
  int64_t pause;               /* before the lookup after that */
};

/* An answer signals `wakeup`. */
void whereabouts_init(struct whereabouts *w, const struct hosts *hosts,
                      const struct wakeup *wakeup);

/* Starts a lookup unless one is running. */
void whereabouts_ask(struct whereabouts *w);
void whereabouts_ask_in(struct whereabouts *w, int64_t pause);
/* Schedules another lookup. The pause grows with each answer. Does nothing if
 * all hosts are numeric addresses. */
void whereabouts_ask_again(struct whereabouts *w);
/* Called when a connection was lost. Schedules a lookup, in case the servers
 * have moved. */
void whereabouts_expect_moves(struct whereabouts *w);
/* Called when there is a connection. Cancels the scheduled lookup. */
void whereabouts_rest(struct whereabouts *w);

/* Returns `ip:port name…,…`, valid until whereabouts_done, or NULL if there is no
 * answer yet. If it is empty, `*error` says why, and `*temporary` whether that
 * may change soon. */
const char *whereabouts_answer(struct whereabouts *w, const char **error,
                               bool *temporary);
/* Drops the answer or the running lookup. */
void whereabouts_done(struct whereabouts *w);

#pragma GCC visibility pop

#endif
