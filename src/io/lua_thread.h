/* The Lua thread's functions for a session: they send commands to the I/O
 * thread, and read its events.
 *
 * Only the Lua thread that owns the session may call them. Before each call, it
 * must compare core->owner with its own process id, because a fork copies the
 * session. No function waits for the network. */
#ifndef ZKLOCK_LUA_THREAD_H
#define ZKLOCK_LUA_THREAD_H

#include "ask.h"
#include "core.h"
#include "messages.h"

#pragma GCC visibility push(hidden)

/* Opens a session and starts its I/O thread. Takes ownership of the settings.
 * On failure, returns NULL and sets `*error`. */
struct core *core_open(struct settings *settings, const char **error);
/* Begins to close the session; EVENT_CLOSED reports the end. Idempotent. */
void core_close(struct core *core);
/* Ends the Lua thread's use of the session and its channel. `ended`:
 * EVENT_CLOSED was received, so the I/O thread can be joined. */
void core_leave(struct core *core, bool ended);

/* Begins an acquisition, whose first turn is `turn`. If `turn` was already
 * waiting in a local queue, it keeps its number and time. Returns NULL if there
 * is no memory. */
struct acquisition *core_acquire(struct core *core, const char *path,
                                 const void *data, size_t size,
                                 const struct contender_options *options,
                                 struct turn *turn);
void core_cancel(struct core *core, struct acquisition *acquisition);
/* Cancels a wait, and releases the lock if it is granted nevertheless. */
void core_abandon(struct core *core, struct acquisition *acquisition);
/* Releases a hold. `report`: EVENT_GONE is posted when the node is deleted.
 * Returns false if the hold was lost. */
bool core_release(struct core *core, struct acquisition *acquisition,
                  bool report);
/* Begins a wait in a local queue, for a hold of this session that is passed
 * on. */
void core_begin_local_wait(struct core *core, struct turn *turn,
                           int64_t deadline);
/* Requests EVENT_ALARM at `due`, unless an earlier alarm is requested. */
void core_set_alarm(struct core *core, int64_t due);
/* Passes a hold on from one turn to the next (acquisition_pass_on). Returns
 * false if that is not possible; then the caller must release the hold. */
bool core_pass_on(struct core *core, struct acquisition *acquisition,
                  const struct turn *from, struct turn *to);
/* Returns why the hold is lost, or LOSS_NONE. Also ends the hold if the local
 * clock shows a loss that the I/O thread has not noticed yet. */
enum loss core_find_loss(struct core *core, struct acquisition *acquisition,
                         int turn);
/* Watches the hold's own node from now on. Otherwise the watch begins only
 * after the hold has lasted for some time. */
void core_watch(struct core *core, struct acquisition *acquisition);
/* Sends the ask (a list of requests about nodes) and takes ownership of it.
 * Returns the number that its EVENT_ANSWERED carries. */
uint64_t core_ask(struct core *core, struct ask *ask);
/* Starts the wait. Returns the number that its EVENT_AWAITED carries. The I/O
 * thread posts that event once. */
uint64_t core_await(struct core *core, struct await *await);
/* Cancels the wait unless it has ended. */
void core_cancel_await(struct core *core, struct await *await);

/* Finishes an event that was taken from the channel: frees its slot, and drops
 * the reference to its subject. */
void core_event_done(struct core *core, struct message *message);
/* Makes the session's descriptor readable, so that the loop runs work that the
 * Lua layer has deferred. */
void core_nudge(struct core *core);
/* Removes the states that the session has had since the last call, oldest
 * first, and returns their number. Only the last 16 are kept. */
int core_states(struct core *core, enum session_state states[16]);
void core_error(struct core *core, char *text, size_t size);

#pragma GCC visibility pop

#endif
