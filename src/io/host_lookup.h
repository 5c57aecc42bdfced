/* Looks up the addresses of the servers' host names. While there is no
 * connection, repeats the lookup every few seconds, because the servers may
 * have moved. */
#ifndef ZKLOCK_HOST_LOOKUP_H
#define ZKLOCK_HOST_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "hosts.h"
#include "wakeup.h"

#pragma GCC visibility push(hidden)

/* Only the I/O thread uses these fields, except (c): constant. */
struct host_lookup {
  const struct hosts *hosts;   /* (c) */
  const struct wakeup *wakeup; /* (c) */
  struct resolver *resolver;   /* the lookup in progress, or NULL */
  int64_t due;                 /* when to start the next lookup; or NEVER */
  int64_t pause;               /* the pause after the next lookup */
};

/* Initializes the lookup. `wakeup` is signalled when there is an answer. */
void host_lookup_init(struct host_lookup *w, const struct hosts *hosts,
                      const struct wakeup *wakeup);

/* Start a lookup unless one is running: now, or after a pause. */
void host_lookup_ask(struct host_lookup *w);
void host_lookup_ask_in(struct host_lookup *w, int64_t pause);
/* Schedules another lookup after a pause that grows with each answer. Does
 * nothing if all hosts are numeric addresses. */
void host_lookup_ask_again(struct host_lookup *w);
/* Schedules a lookup after the loss of a connection, in case the servers have
 * moved. */
void host_lookup_ask_after_loss(struct host_lookup *w);
/* Cancels the scheduled lookup, because there is a connection. */
void host_lookup_cancel(struct host_lookup *w);

/* Returns the addresses, as `ip:port name…,…`, or NULL if there is no answer
 * yet. The text is valid until host_lookup_done. If no address was found,
 * returns "". Then `*error` is the reason, and `*temporary` is true if that can
 * change soon. */
const char *host_lookup_answer(struct host_lookup *w, const char **error,
                               bool *temporary);
/* Frees the answer, or abandons the running lookup. */
void host_lookup_done(struct host_lookup *w);

#pragma GCC visibility pop

#endif
