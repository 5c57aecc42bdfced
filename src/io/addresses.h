/* The servers' addresses, and the time from which each can be tried again.
 * Pure.
 *
 * An address whose connections do not last gets a pause. The pause doubles with
 * each such connection, whatever the server replied before. During the pause,
 * zklock tries the other addresses. */
#ifndef ZKLOCK_ADDRESSES_H
#define ZKLOCK_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct address {
  const char *text;  /* ip:port, a part of `texts` */
  const char *names; /* the host names, separated by ' '; in `texts` */
  int failures;      /* number of failed attempts in a row */
  bool is_refused;   /* the last attempt refused a TLS certificate */
  int64_t not_before;
};

struct addresses {
  int count;
  int next; /* the index of the address to try first */
  struct address *list;
  char *texts;
  uint64_t jitter; /* state of a random generator */
};

void addresses_init(struct addresses *addresses, uint64_t seed);
void addresses_free(struct addresses *addresses);

/* Replaces the addresses by the addresses in `list`: `ip:port name…,…`. Puts
 * them into random order, so that clients spread over the servers. An address
 * that was known before keeps its failures and its pause. Returns false and
 * changes nothing if there is no memory. */
bool addresses_set(struct addresses *addresses, const char *list);
/* Returns whether `list` has the same addresses with the same names, in any
 * order. */
bool addresses_are(const struct addresses *addresses, const char *list);
/* Returns the index of the address with this text, or -1. */
int addresses_find(const struct addresses *addresses, const char *text);

/* Returns the index of the next address that is not in a pause, or -1. */
int addresses_take(struct addresses *addresses, int64_t now);
/* Returns when the first pause of an address ends; INT64_MAX: there is no
 * address. */
int64_t addresses_due(const struct addresses *addresses);

/* Begins a pause of the address, after a failed attempt or a connection that
 * ended early. The longest pause is a tenth of the session timeout, between 0.1
 * and 2 seconds. */
void addresses_failed(struct addresses *addresses, int which, int64_t now,
                      int64_t timeout);
/* Records whether TLS was refused at this address. Returns whether the last
 * attempts at all addresses were refused. */
bool addresses_refused(struct addresses *addresses, int which, bool is_refused);
/* Ends the pauses of an address, because a connection to this address has
 * lasted. */
void addresses_served(struct addresses *addresses, int which);

#pragma GCC visibility pop

#endif
