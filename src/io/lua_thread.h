/* Declares the Lua thread's functions for a session. They send commands to the
 * I/O thread, and read its events.
 *
 * Only the Lua thread that owns the session is allowed to call them. A fork
 * copies the session. So before each call, the thread must compare core->owner
 * with its own process id. No function waits for the network. */
#ifndef ZKLOCK_LUA_THREAD_H
#define ZKLOCK_LUA_THREAD_H

#include "await.h"
#include "core.h"
#include "messages.h"

#pragma GCC visibility push(hidden)

/* Opens a session and starts its I/O thread. Takes ownership of the settings,
 * even on failure. On failure, returns NULL and sets `*error` to the reason. */
struct core *core_open(struct settings *settings, const char **error);
/* Begins to close the session. The I/O thread posts EVENT_CLOSED when the
 * session is closed. A second call has no effect. */
void core_close(struct core *core);
/* Ends the Lua thread's use of the session and its channel. `ended`: the Lua
 * thread has received EVENT_CLOSED, so it can join the I/O thread without a
 * long wait. */
void core_leave(struct core *core, bool ended);

/* Begins an acquisition, and fills `turn`, its first turn. If `turn` was
 * already waiting in a local queue, it keeps its number and the start of its
 * wait. Returns NULL if there is no memory. */
struct acquisition *core_acquire(struct core *core, const char *path,
                                 const void *data, size_t size,
                                 const struct contender_options *options,
                                 struct turn *turn);
void core_cancel(struct core *core, struct acquisition *acquisition);
/* Cancels a wait. If the lock is granted before the cancel arrives, releases
 * the lock. */
void core_abandon(struct core *core, struct acquisition *acquisition);
/* Releases a hold. `report`: the I/O thread posts EVENT_GONE when the node is
 * deleted. Returns false if the hold was lost. */
bool core_release(struct core *core, struct acquisition *acquisition,
                  bool report);
/* Fills `turn` for a wait in a local queue. The wait ends when a hold of this
 * session is passed on to `turn`, or at the deadline. */
void core_begin_local_wait(struct core *core, struct turn *turn,
                           int64_t deadline);
/* Requests EVENT_ALARM for the time `due`. Does nothing if an alarm for an
 * earlier time is already requested. */
void core_set_alarm(struct core *core, int64_t due);
/* Passes a hold on from the turn `from` to the turn `to`: see
 * acquisition_pass_on. Returns false if that is not possible. Then the caller
 * must release the hold. */
bool core_pass_on(struct core *core, struct acquisition *acquisition,
                  const struct turn *from, struct turn *to);
/* Returns why the hold is lost, or LOSS_NONE. If the local clock shows a loss
 * that the I/O thread has not noticed yet, also ends the hold. */
enum loss core_find_loss(struct core *core, struct acquisition *acquisition,
                         int turn);
/* Ends the hold with the reason `why`, unless it has ended. The I/O thread then
 * deletes the node and posts EVENT_LOST, as for any loss. */
void core_lose(struct core *core, struct acquisition *acquisition,
               enum loss why);
/* Watches the hold's own node from now on. Without this call, the I/O thread
 * starts the watch only after the hold has lasted for some time. */
void core_watch(struct core *core, struct acquisition *acquisition);
/* Sends the ask (a list of requests about nodes), and takes ownership of it.
 * Returns the ask's number, which is also in its EVENT_ANSWERED. */
uint64_t core_ask(struct core *core, struct ask *ask);
/* Starts the wait. Returns the await's number. The I/O thread later posts one
 * EVENT_AWAITED with this number. */
uint64_t core_await(struct core *core, struct await *await);
/* Cancels the wait unless it has ended. */
void core_cancel_await(struct core *core, struct await *await);

/* Finishes an event that the caller has taken from the channel. Frees the
 * event's slot, and drops its reference to the subject. */
void core_event_done(struct core *core, struct message *message);
/* Makes the session's descriptor readable. Then the user's event loop wakes,
 * and runs work that the Lua layer has deferred. */
void core_nudge(struct core *core);
/* Writes to `states` the states that the session has had since the last call,
 * oldest first. Returns their number. If there were more than 16, returns the
 * last 16. */
int core_states(struct core *core, enum session_state states[16]);
void core_error(struct core *core, char *text, size_t size);

#pragma GCC visibility pop

#endif
