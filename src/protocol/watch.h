/* A watch: one node of a lock's directory that contenders of this session
 * want to hear of.  They share it: a waiter's own node is what the next one
 * waits for.  Removed at the server when the last of them has left. */
#ifndef ZKLOCK_WATCH_H
#define ZKLOCK_WATCH_H

#include "op.h"

#pragma GCC visibility push(hidden)

struct lane;

struct watch {
  struct lane *lane;
  struct watch *next; /* in the lane */
  int wanted;         /* by so many contenders */
  unsigned armed_in;  /* the connection in which the server confirmed it */
  bool unreadable;    /* the node's ACL forbids reading: use `exists` */
  struct op op;
  int size;            /* of the node's data ... */
  char data[OP_SHOWN]; /* ... and their beginning, as read last */
  uint32_t hash;
  char path[];
};

/* What became of it, as its contenders are told. */
enum watch_news { WATCH_ARMED, WATCH_GONE, WATCH_STALE };

/* The watch of the child `name`, wanted once more; NULL: no memory. */
struct watch *watch_want(struct lane *lane, const char *name);
bool watch_is_of(const struct watch *watch, const char *name);
/* The one that there is, or NULL; and the child's name of one. */
const struct watch *watch_find(const struct lane *lane, const char *name);
const char *watch_name(const struct watch *watch);
void watch_release(struct watch *watch);
void watch_drop(struct watch **watch); /* the same; NULL is nothing */
/* Asks the server for it unless that is done or under way. */
void watch_arm(struct watch *watch);
/* The same, and reads the node even if its watch is armed already. */
void watch_read(struct watch *watch);
/* NULL is not. */
bool watch_is_armed(const struct watch *watch);
/* The server's event. */
void watch_fired(struct lane *lane, const char *path, enum watch_event event);
/* Frees those that nobody wants; after a disconnection. */
void watch_sweep(struct lane *lane);

#pragma GCC visibility pop

#endif
