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

/* Access: (c) constant. Only the I/O thread uses the other fields. */
struct host_lookup {
  const struct hosts *hosts;   /* (c) */
  const struct wakeup *wakeup; /* (c) */
  struct resolver *resolver;   /* the lookup in progress, or NULL */
  int64_t due;                 /* when to start the next lookup; or NEVER */
  int64_t pause;               /* the pause after the next lookup */
};

/* Initializes `w`, without starting a lookup. A lookup signals `wakeup` when it
 * has an answer. */
void host_lookup_init(struct host_lookup *w, const struct hosts *hosts,
                      const struct wakeup *wakeup);

/* Start a lookup. host_lookup_ask starts it now, unless one is running.
 * host_lookup_ask_in schedules it after `pause`. */
void host_lookup_ask(struct host_lookup *w);
void host_lookup_ask_in(struct host_lookup *w, int64_t pause);
/* Schedules another lookup. The pause before it grows with each answer. Does
 * nothing if all hosts are numeric addresses. */
void host_lookup_ask_again(struct host_lookup *w);
/* Schedules a lookup after the first, shortest pause. Called after the loss of
 * a connection, because the servers may have moved. */
void host_lookup_ask_after_loss(struct host_lookup *w);
/* Cancels the scheduled lookup. Called when there is a connection. */
void host_lookup_cancel(struct host_lookup *w);

/* Returns the addresses with their host names, such as "10.0.0.1:2181
 * zk1,10.0.0.2:2181 zk2". The addresses are sorted. Each is in the text once,
 * with all its names. Returns NULL while there is no answer. If the lookup has
 * found no address, returns "" and sets `*error` to the reason. Then it also
 * sets `*temporary`: true if another lookup can soon succeed. The text is
 * valid until host_lookup_done. */
const char *host_lookup_answer(struct host_lookup *w, const char **error,
                               bool *temporary);
/* Frees the answer, or abandons the running lookup. */
void host_lookup_done(struct host_lookup *w);

#pragma GCC visibility pop

#endif
