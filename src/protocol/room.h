/* Room: how much a session may have at ZooKeeper, in bytes of paths.
 *
 * All watches of a session travel in one packet when it reconnects, and the
 * paths of all its nodes in one transaction when it ends; ZooKeeper takes none
 * of more than 1 MiB.  A session that has outgrown the one could never
 * reconnect, and a server that has logged the other could never start again.
 *
 * So each node takes room, which is for its watch, too, and so does each watch
 * of anything else.  Who looks for its place may come to watch two nodes of
 * others: that much is promised to it until its place is known; afterwards its
 * watches only become fewer.  Where there is no room contenders wait without a
 * node, in the order of arrival of their path. */
#ifndef ZKLOCK_ROOM_H
#define ZKLOCK_ROOM_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

struct lane;
struct session;

/* Up to the first limit anybody enters.  Up to the second those who are
 * urgent: the first of ours on a path, and who need not wait for those of ours
 * before it.  If they waited for others of this session to leave, these might
 * wait for them. */
enum { ROOM_FOR_ALL = 800000, ROOM_MAX = 1000000 };

struct room {
  size_t taken, promised;
  struct lane *first, *last; /* lanes where somebody waits for room */
};

size_t room_of_path(size_t length);
/* What a node in this lane takes. */
size_t room_of(const struct lane *lane);

enum room_answer {
  ROOM_YES,
  ROOM_LATER, /* when others leave, or have found their place */
  ROOM_NEVER, /* unless others leave whom the user has to release */
};

/* For one more contender of the lane? */
enum room_answer room_for(const struct lane *lane, bool urgent);

void room_take(struct session *s, size_t bytes);
void room_give(struct session *s, size_t bytes);
void room_promise(struct session *s, size_t bytes);
void room_break_promise(struct session *s, size_t bytes);

/* Somebody in this lane waits for room: it is dirty as soon as there is. */
void room_wait(struct lane *lane, bool urgent);
void room_unwait(struct lane *lane); /* idempotent */
/* There may be room for the next one. */
void room_pass_on(struct session *s);

#pragma GCC visibility pop

#endif
