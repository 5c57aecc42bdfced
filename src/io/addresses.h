/* The servers' addresses, and when each may be tried. Pure.
 *
 * If the connections to a server do not last, it gets a pause that doubles with
 * each such connection, whatever the server replied before. During the pause,
 * the other servers are tried. */
#ifndef ZKLOCK_ADDRESSES_H
#define ZKLOCK_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct address {
  const char *text;  /* ip:port, in `texts` */
  const char *names; /* its host names, in `texts`, separated by ' ' */
  int failures;      /* in a row */
  bool is_refused;   /* a TLS certificate was refused at the last attempt */
  int64_t not_before;
};

struct addresses {
  int count;
  int next; /* the index to try first */
  struct address *list;
  char *texts;
  uint64_t jitter; /* state of a random generator */
};

void addresses_init(struct addresses *addresses, uint64_t seed);
void addresses_free(struct addresses *addresses);

/* Replaces the addresses by those in `ip:port name…,…`, in random order, so
 * that clients spread over the servers. Addresses that stay keep their state.
 * Returns false if there is no memory; then nothing has changed. */
bool addresses_set(struct addresses *addresses, const char *list);
/* Returns whether these are the same addresses with the same names, in any
 * order. */
bool addresses_are(const struct addresses *addresses, const char *list);
/* Returns the index of an address, or -1. */
int addresses_find(const struct addresses *addresses, const char *text);

/* Returns the next address that may be tried now, or -1. */
int addresses_take(struct addresses *addresses, int64_t now);
/* Returns when an address may be tried again; INT64_MAX: there is no address. */
int64_t addresses_due(const struct addresses *addresses);

/* Records a failed attempt, or a connection that ended early. The longest pause
 * is a tenth of the session timeout, between 0.1 and 2 seconds. */
void addresses_failed(struct addresses *addresses, int which, int64_t now,
                      int64_t timeout);
/* Records whether TLS was refused. Returns whether all servers refuse it. */
bool addresses_refused(struct addresses *addresses, int which, bool is_refused);
/* Records a connection that lasted. */
void addresses_served(struct addresses *addresses, int which);

#pragma GCC visibility pop

#endif
