/* The Lua thread's side of a session: calls become commands, and events are
 * taken.
 *
 * The Lua thread that owns the session calls every function below, after it has
 * compared core->owner with its own process (because of fork). None of them
 * waits for the network. */
#ifndef ZKLOCK_LUA_THREAD_H
#define ZKLOCK_LUA_THREAD_H

#include "ask.h"
#include "core.h"
#include "messages.h"

#pragma GCC visibility push(hidden)

/* Takes ownership of the settings. On failure, returns NULL and sets
 * `*error`. */
struct core *core_open(struct settings *settings, const char **error);
/* Begins to close; EVENT_CLOSED reports the end. Idempotent. */
void core_close(struct core *core);
/* Gives up the channel for the Lua thread. `ended`: EVENT_CLOSED was received,
 * so the I/O thread is joined. */
void core_leave(struct core *core, bool ended);

/* Begins an acquisition. `turn` is its first turn. A turn that waits already
 * keeps its number and time. */
struct acquisition *core_acquire(struct core *core, const char *path,
                                 const void *data, size_t size,
                                 const struct contender_options *options,
                                 struct turn *turn);
void core_cancel(struct core *core, struct acquisition *acquisition);
/* Ends a wait whose outcome is no longer wanted. */
void core_abandon(struct core *core, struct acquisition *acquisition);
/* Releases a hold. `report`: post EVENT_GONE. Returns false if the hold was
 * lost. */
bool core_release(struct core *core, struct acquisition *acquisition,
                  bool report);
/* Begins a wait for another acquisition's hold (acquisition_pass_on). */
void core_stand(struct core *core, struct turn *turn, int64_t deadline);
/* Requests EVENT_ALARM at `due`. An earlier request stays. */
void core_call_at(struct core *core, int64_t due);
/* Passes a hold on. Returns false if that is not possible: release it then. */
bool core_pass_on(struct core *core, struct acquisition *acquisition,
                  const struct turn *from, struct turn *to);
/* Returns why the hold is lost, as seen by the I/O thread or the local
 * clock. */
enum loss core_find_loss(struct core *core, struct acquisition *acquisition,
                         int turn);
/* Arms the watch on the hold's own node now rather than soon. */
void core_watch(struct core *core, struct acquisition *acquisition);
/* Sends the ask and takes ownership of it. EVENT_ANSWERED carries the number
 * returned. */
uint64_t core_ask(struct core *core, struct ask *ask);
/* Starts the wait. EVENT_AWAITED carries the number returned and is posted
 * once. */
uint64_t core_await(struct core *core, struct await *await);
/* Ends the wait unless it has ended. */
void core_await_no_more(struct core *core, struct await *await);

/* Finishes an event that was taken from the channel: drops its reference. */
void core_event_done(struct core *core, struct message *message);
/* Makes the descriptor readable for work that the Lua layer has deferred. */
void core_nudge(struct core *core);
/* Returns the states since the last call, oldest first; at most the last 16. */
int core_states(struct core *core, enum session_state states[16]);
void core_error(struct core *core, char *text, size_t size);

#pragma GCC visibility pop

#endif
