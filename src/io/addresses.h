/* The servers' addresses, and which of them may be tried when.  Pure.
 *
 * A server whose connections do not live, whatever it says before, is given a
 * pause that doubles with each of them; meanwhile the others are tried. */
#ifndef ZKLOCK_ADDRESSES_H
#define ZKLOCK_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct address {
  const char *text; /* ip:port, in `texts` */
  int failures;     /* in a row */
  int64_t not_before;
};

struct addresses {
  int count;
  int next; /* in turn */
  struct address *list;
  char *texts;
  uint64_t jitter; /* state of a small generator */
};

void addresses_init(struct addresses *addresses, uint64_t seed);
void addresses_free(struct addresses *addresses);

/* Takes `ip:port,…` over, shuffled, so that clients spread.  What is known of
 * those that stay is kept.  False: no memory, and nothing has changed. */
bool addresses_set(struct addresses *addresses, const char *list);
/* Are these the same, in whatever order? */
bool addresses_are(const struct addresses *addresses, const char *list);
/* The place of one; -1: it is not among them. */
int addresses_find(const struct addresses *addresses, const char *text);

/* The next in turn that may be tried now; -1: none. */
int addresses_take(struct addresses *addresses, int64_t now);
/* When one may be tried again; the largest number if there is none. */
int64_t addresses_due(const struct addresses *addresses);

/* An attempt has failed, or a connection has ended soon.  The longest
 * pause is a tenth of the session's timeout, between 0.1 and 2 seconds. */
void addresses_failed(struct addresses *addresses, int which, int64_t now,
                      int64_t timeout);
/* A connection has lived. */
void addresses_served(struct addresses *addresses, int which);

#pragma GCC visibility pop

#endif
