/* Local turns on the Lua thread.
 *
 * The claims of a session that share a node (option `handoffs`) take turns on it.
 * The first of a path is sent to the I/O thread.  Those that come while that one
 * waits or holds stand behind it in a line, of which the I/O thread knows
 * nothing; and whoever releases passes the node to the first of them here, with
 * no thread to be woken and no command.  To the I/O thread that is one hold: the
 * root's.
 *
 *   sent ──► granted ──► its turn ──► its turn ──► ... ──► released ──► sent
 *   (root)                       passed by compare-and-swap             (the next
 *                                on the root's word                     root)
 *
 * It is queue.c that says what a local turn is, and where one is not possible here
 * it decides as ever: the first of the line is sent, and then the release.  So it
 * is after the last turn, when somebody wants the lock, without a connection or a
 * lease, and if the release is to be confirmed.
 *
 * The order of arrival is kept.  Who does not stand in the line is sent, but all
 * who do before it; so whoever was sent is ahead of those who stand there, and
 * nobody is passed the node while one that was sent waits.  There is somebody
 * ahead as long as anybody stands there, so none is forgotten: whatever ends that
 * one is heard here, and the first of the line is sent.
 *
 * Who gives up is sent, and refused by the I/O thread like any other: what is to
 * be said of it is known there.  That is done in the moment of its deadline, for
 * which the I/O thread is asked to call.
 *
 * Of a session, for the Lua thread alone; and nothing here runs any Lua. */
#ifndef ZKLOCK_TURNS_H
#define ZKLOCK_TURNS_H

#include "claim.h"

#pragma GCC visibility push(hidden)

enum { WAIT_BUCKETS = 28, LINE_BUCKETS = 64 };

/* To the I/O thread. */
struct turns_port {
  void *self;
  /* One of the claim's commands. */
  void (*send)(void *self, struct claim *claim, struct message *message,
               int kind);
  /* turns_wake is to be called then; no more at an earlier time. */
  void (*call_at)(void *self, int64_t due);
};

struct turns {
  struct turns_port port;
  const struct proof *proof;
  struct line *lines[LINE_BUCKETS]; /* by the hash of their paths */
  struct claim *untold,
      *newest;             /* who was passed a node, and is to hear of it */
  int64_t called_at;       /* NEVER: not at all */
  uint64_t taken, waiting; /* turns; claims in all lines */
  uint64_t waits[WAIT_BUCKETS]; /* turns, by how long they were waited for */
};

void turns_init(struct turns *turns, const struct turns_port *port,
                const struct proof *proof);
/* Its last use: nobody asks for the claims that stand in lines. */
void turns_free(struct turns *turns);

/* A new claim: it is sent, or stands in a line. */
void turns_begin(struct turns *turns, struct claim *claim);
void turns_cancel(struct turns *turns, struct claim *claim);
void turns_abandon(struct turns *turns, struct claim *claim);
/* Gives a hold back, or passes it on; false: it was lost. */
bool turns_release(struct turns *turns, struct claim *claim, bool report);
/* The Lua thread's own clock ends the hold; false: another was first. */
bool turns_lose(struct turns *turns, struct claim *claim, enum loss why);

/* The I/O thread has refused it, or said that it is lost. */
void turns_heard(struct turns *turns, struct claim *claim);
/* The moment has come that was asked for. */
void turns_wake(struct turns *turns);

/* The first that was passed a node and is to be told: with a reference, which
 * goes to whoever takes it.  NULL: there is none. */
struct claim *turns_take(struct turns *turns);

/* Where a wait of so many nanoseconds is counted: below 2^n microseconds. */
int wait_bucket(int64_t waited);

#pragma GCC visibility pop

#endif
