/* Where the servers are: their names are looked up, and again, every few seconds,
 * while a connection is missing, for they may have moved, and move again. */
#ifndef ZKLOCK_WHEREABOUTS_H
#define ZKLOCK_WHEREABOUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "hosts.h"
#include "wakeup.h"

#pragma GCC visibility push(hidden)

/* All of it is the I/O thread's, but for (c), which is constant. */
struct whereabouts {
  const struct hosts *hosts;   /* (c) */
  const struct wakeup *wakeup; /* (c) */
  struct resolver *resolver;   /* at work, or NULL */
  int64_t due;                 /* when to ask; NEVER */
  int64_t pause;               /* until the time after that */
};

/* `wakeup`: what an answer rouses. */
void whereabouts_init(struct whereabouts *w, const struct hosts *hosts,
                      const struct wakeup *wakeup);

/* Asks; nothing if it is being asked. */
void whereabouts_ask(struct whereabouts *w);
void whereabouts_ask_in(struct whereabouts *w, int64_t pause);
/* After a pause, longer after each answer; not where there are no names. */
void whereabouts_ask_again(struct whereabouts *w);
/* A connection is missing: where are they, if it stays away? */
void whereabouts_expect_moves(struct whereabouts *w);
/* There is a connection. */
void whereabouts_rest(struct whereabouts *w);

/* `ip:port,…`, alive until whereabouts_done; empty: `*error` says why there is no
 * address, `*temporary` whether there may be one yet.  NULL: no answer yet. */
const char *whereabouts_answer(struct whereabouts *w, const char **error,
                               bool *temporary);
/* The answer was read, or is not wanted any more. */
void whereabouts_done(struct whereabouts *w);

#pragma GCC visibility pop

#endif
