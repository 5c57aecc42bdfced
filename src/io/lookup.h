/* A host's name to its addresses; blocks as long as the system's resolver. */
#ifndef ZKLOCK_LOOKUP_H
#define ZKLOCK_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

enum { IP_MAX = 64 }; /* an IPv6 address and the name of an interface */

struct ips {
  char (*list)[IP_MAX];
  size_t count, room;
};

bool ips_add(struct ips *ips, const char *ip); /* false: no memory */
void ips_free(struct ips *ips);

/* Is it an address itself?  Then it is added. */
bool lookup_numeric(struct ips *ips, const char *name);
/* Adds all addresses of `name`.  0, or EAI_… as getaddrinfo gives it, and its
 * words in `reason`. */
int lookup_name(struct ips *ips, const char *name, char reason[80]);

#pragma GCC visibility pop

#endif
