/* The servers' addresses, and the time from which each can be tried again. This
 * module does no I/O.
 *
 * An address gets a pause if a connection to it fails or ends early. Each
 * further such connection doubles the pause, even if the server replied before
 * the connection ended. During the pause, zklock tries the other addresses. */
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
  bool is_refused;   /* the last attempt ended with a refused certificate */
  int64_t not_before;
};

struct addresses {
  int count;
  int next; /* the index of the address to try first */
  struct address *list;
  char *texts;
  char *source;    /* the list from which the addresses come */
  uint64_t jitter; /* state of a random generator */
};

void addresses_init(struct addresses *addresses, uint64_t seed);
void addresses_free(struct addresses *addresses);

/* Replaces the addresses by those in `list`, such as "10.0.0.1:2181
 * zk1,10.0.0.2:2181 zk2 zk3". Each address is followed by its host names. Puts
 * the addresses into random order, so that clients spread over the servers. An
 * address that was known before keeps its failures and its pause. If there is
 * no memory, returns false and changes nothing. */
bool addresses_set(struct addresses *addresses, const char *list);
/* Returns whether the addresses come from an equal list. */
bool addresses_are(const struct addresses *addresses, const char *list);
/* Returns the index of the address with this text, or -1. */
int addresses_find(const struct addresses *addresses, const char *text);

/* Returns the index of the next address that is not in a pause, or -1. The next
 * call begins its search at the address after it. */
int addresses_take(struct addresses *addresses, int64_t now);
/* Returns the time from which at least one address can be tried. INT64_MAX:
 * there is no address. */
int64_t addresses_due(const struct addresses *addresses);

/* Begins a pause of the address `which`. Called if an attempt has failed, or if
 * a connection has ended early. `timeout` is the session timeout. A pause lasts
 * at most a tenth of it; this limit itself is between 0.1 and 2 seconds. */
void addresses_failed(struct addresses *addresses, int which, int64_t now,
                      int64_t timeout);
/* Records whether the last attempt at the address `which` ended because a
 * certificate was refused (`is_refused`). Returns true if this is so for the
 * last attempt at each address. */
bool addresses_refused(struct addresses *addresses, int which, bool is_refused);
/* Resets the failures and the pause of the address `which`. Called when a
 * connection to it has lasted for some time. */
void addresses_served(struct addresses *addresses, int which);

#pragma GCC visibility pop

#endif
