/* What the Lua thread does with a session: its calls become commands, and it
 * takes the events.
 *
 * Every function below is called by the Lua thread that owns the session,
 * after it has compared core->owner with its own process (fork).  None waits
 * for the network. */
#ifndef ZKLOCK_LUA_THREAD_H
#define ZKLOCK_LUA_THREAD_H

#include "ask.h"
#include "core.h"
#include "messages.h"

#pragma GCC visibility push(hidden)

/* Takes the settings over.  NULL: `*error` says why. */
struct core *core_open(struct settings *settings, const char **error);
/* Begins to close; EVENT_CLOSED tells the end.  Idempotent. */
void core_close(struct core *core);
/* The Lua thread's last use of the channel.  `ended`: EVENT_CLOSED has come,
 * and the thread is waited for. */
void core_leave(struct core *core, bool ended);

/* `turn`: its first one; if that waits already it keeps its number and time. */
struct claim *core_acquire(struct core *core, const char *path,
                           const void *data, size_t size,
                           const struct contender_options *options,
                           struct turn *turn);
void core_cancel(struct core *core, struct claim *claim);
/* Ends a wait whose outcome nobody will take. */
void core_abandon(struct core *core, struct claim *claim);
/* Gives a hold back; `report`: EVENT_GONE is wanted.  False: it was lost. */
bool core_release(struct core *core, struct claim *claim, bool report);
/* A wait for another's hold (claim_pass_on) begins. */
void core_stand(struct core *core, struct turn *turn, int64_t deadline);
/* EVENT_ALARM comes then, unless it comes earlier. */
void core_call_at(struct core *core, int64_t due);
/* Gives a hold on.  False: it is not to be, and the hold is to be released. */
bool core_pass_on(struct core *core, struct claim *claim,
                  const struct turn *from, struct turn *to);
/* Why it is lost, if it is: by the I/O thread's word, or by our clock. */
enum loss core_find_loss(struct core *core, struct claim *claim, int turn);
/* Arms the watch on the hold's own node now rather than soon. */
void core_watch(struct core *core, struct claim *claim);
/* Takes the ask; EVENT_ANSWERED comes with the number returned. */
uint64_t core_ask(struct core *core, struct ask *ask);
/* Begins it; EVENT_AWAITED comes with the number returned, once. */
uint64_t core_await(struct core *core, struct await *await);
/* Ends it, unless it has ended. */
void core_await_no_more(struct core *core, struct await *await);

/* An event that was taken from the channel is over: drops what it speaks of. */
void core_event_done(struct core *core, struct message *message);
/* Makes the fd readable, for what the Lua layer itself has put off. */
void core_nudge(struct core *core);
/* The states since the last call, oldest first; at most the last 16. */
int core_states(struct core *core, enum session_state states[16]);
void core_error(struct core *core, char *text, size_t size);

#pragma GCC visibility pop

#endif
