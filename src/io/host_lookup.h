/* Looks up the addresses of the servers. While there is no connection, it
 * repeats that every few seconds, because the servers may have moved. */
#ifndef ZKLOCK_HOST_LOOKUP_H
#define ZKLOCK_HOST_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "hosts.h"
#include "wakeup.h"

#pragma GCC visibility push(hidden)

/* Used by the I/O thread only, except (c): constant. */
struct host_lookup {
  const struct hosts *hosts;   /* (c) */
  const struct wakeup *wakeup; /* (c) */
  struct resolver *resolver;   /* running, or NULL */
  int64_t due;                 /* when to look up; NEVER */
  int64_t pause;               /* before the lookup after that */
};

/* An answer signals `wakeup`. */
void host_lookup_init(struct host_lookup *w, const struct hosts *hosts,
                      const struct wakeup *wakeup);

/* Starts a lookup unless one is running. */
void host_lookup_ask(struct host_lookup *w);
void host_lookup_ask_in(struct host_lookup *w, int64_t pause);
/* Schedules another lookup. The pause grows with each answer. Does nothing if
 * all hosts are numeric addresses. */
void host_lookup_ask_again(struct host_lookup *w);
/* Called when a connection was lost. Schedules a lookup, in case the servers
 * have moved. */
void host_lookup_expect_moves(struct host_lookup *w);
/* Called when there is a connection. Cancels the scheduled lookup. */
void host_lookup_rest(struct host_lookup *w);

/* Returns `ip:port name…,…`, valid until host_lookup_done, or NULL if there is
 * no answer yet. If it is empty, `*error` says why, and `*temporary` whether
 * that may change soon. */
const char *host_lookup_answer(struct host_lookup *w, const char **error,
                               bool *temporary);
/* Drops the answer or the running lookup. */
void host_lookup_done(struct host_lookup *w);

#pragma GCC visibility pop

#endif
