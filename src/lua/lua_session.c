/* Implements the userdata of a session: opens and closes the session, and
 * returns its events.
 *
 * The caller first creates the userdata, and then opens the session in it. So
 * if opening raises an error, the finalizer can close the session.
 *
 * Only session:wait blocks on the network. Two places call it: the adapter
 * loop/poll.lua, and the code that closes a session (engine.lua). */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "io/clock.h"
#include "io/process.h"
#include "lua_binding.h"
#include "lua_events.h"

struct session_box {
  struct core *core; /* first, for binding_check_session; NULL: not open */
  struct events events;
  bool dead; /* the userdata was finalized: never open it */
};

static struct session_box *check_session(lua_State *L) {
  struct session_box *box = binding_check_object(L, 1, &session_type);
  if (box->core) binding_check_process(L, box->core);
  return box;
}

int binding_new_session(lua_State *L) {
  binding_new_object(L, &session_type, sizeof(struct session_box));
  return 1;
}

/* open({ hosts =, … (lua_settings.c) } [, session]) → session; or nil, message
 *
 * Opens `session`, or a new session if it is nil. Reads the table before it
 * checks `session`, because the read can run Lua code. That code could open the
 * same session. */
int binding_open_session(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 2);
  if (lua_isnil(L, 2)) {
    binding_new_session(L);
    lua_replace(L, 2);
  }
  struct session_box *box = binding_check_object(L, 2, &session_type);
  struct settings **settings = binding_read_settings(L, 1);
  luaL_argcheck(L, !box->core && !box->events.pushing && !box->dead, 2,
                "not closed, or collected");
  const char *error = "";
  box->events.ended = false;
  box->core = core_open(*settings, &error);
  *settings = NULL;
  if (!box->core) {
    lua_pushnil(L);
    lua_pushstring(L, error);
    return 2;
  }
  lua_pushvalue(L, 2);
  return 1;
}

/* session:next([host_read]) → the kind and the values of the next event; or
 * nothing
 *
 * Returns the same event again until session:noted is called. `host_read`: the
 * host's event loop has already read the bytes that woke it. */
static int session_next(lua_State *L) {
  struct session_box *box = check_session(L);
  return binding_push_event(L, &box->core, &box->events, lua_toboolean(L, 2));
}

/* session:noted([queue, item]) → nothing
 *
 * Appends `item` to the list `queue`, and finishes the event that session:next
 * has returned. Does both in one call, so that no Lua code can run in
 * between. */
static int session_noted(lua_State *L) {
  struct session_box *box = check_session(L);
  if (!lua_isnoneornil(L, 3)) {
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 3);
    lua_rawseti(L, 2, (int)lua_rawlen(L, 2) + 1);
  }
  if (box->core) binding_finish_event(box->core, &box->events);
  return 0;
}

/* session:is_behind() → whether an event was taken from the core, but is not
 * finished yet */
static int session_is_behind(lua_State *L) {
  lua_pushboolean(L, check_session(L)->events.pending != NULL);
  return 1;
}

/* session:wait(seconds|nil) → whether the descriptor is readable
 *
 * Blocks until the session's descriptor is readable, or until the time has
 * passed. If it is readable, there can be an event. A signal ends the wait
 * early. Lua can then run the hook that the signal's handler has set. */
static int session_wait(lua_State *L) {
  const struct core *core = binding_check_session(L);
  struct pollfd fd = {.fd = core->channel.lua.read_fd, .events = POLLIN};
  int64_t until = binding_opt_deadline(L, 2);
  lua_pushboolean(L, clock_poll(NULL, &fd, 1, until) > 0);
  return 1;
}

static int session_fd(lua_State *L) {
  lua_pushinteger(L, binding_check_session(L)->channel.lua.read_fd);
  return 1;
}

static int session_state(lua_State *L) {
  const struct session_box *box = check_session(L);
  lua_pushstring(L, box->core ? session_state_name(
                                    (enum session_state)box->core->proof.state)
                              : "closed");
  return 1;
}

static int session_id(lua_State *L) {
  char text[24];
  snprintf(text, sizeof text, "0x%llx",
           (unsigned long long)binding_check_session(L)->session_id);
  lua_pushstring(L, text);
  return 1;
}

static int session_timeout(lua_State *L) {
  lua_pushnumber(L,
                 (lua_Number)binding_check_session(L)->timeout / NANOSECONDS);
  return 1;
}

static int session_error(lua_State *L) {
  char text[LAST_ERRORS_MAX];
  core_error(binding_check_session(L), text, sizeof text);
  lua_pushstring(L, text);
  return 1;
}

static void set_integer(lua_State *L, const char *key, uint64_t value) {
  lua_pushinteger(L, (lua_Integer)value);
  lua_setfield(L, -2, key);
}

/* session:stats() → a table of counters
 *
 * Reads all values before it pushes the first, because a push can run a
 * finalizer that leaves the session (lua_binding.h). */
static int session_stats(lua_State *L) {
  const struct core *core = binding_check_session(L);
  const struct counters *counters = session_counters(&core->session);
#define X(name) uint64_t name = counters->name;
  SESSION_COUNTERS(X)
#undef X
  /* Counts the holds that Lua has not released, not the nodes. A released
   * hold's node may not be deleted yet. */
  int holding = core->closed ? 0 : core->proof.held;
  grants += core->turns;
  waiting += core->local_waiters;
  uint64_t local_turns = core->turns;
  uint64_t waits[WAIT_BUCKETS];
  for (int i = 0; i < WAIT_BUCKETS; i++)
    waits[i] = core->waits[i] + core->turn_waits[i];
  lua_newtable(L);
#define X(name) set_integer(L, #name, name);
  PUBLIC_COUNTERS(X)
  set_integer(L, "holding", (uint64_t)holding);
  set_integer(L, "local_turns", local_turns);
  lua_newtable(L);
  INTERNAL_COUNTERS(X)
#undef X
  lua_setfield(L, -2, "internal");
  lua_newtable(L);
  for (int i = 0; i < WAIT_BUCKETS; i++) {
    lua_pushinteger(L, (lua_Integer)waits[i]);
    lua_rawseti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "wait_histogram");
  return 1;
}

/* session:lease() → for how many more seconds the holds are certain to last if
 * no server replies from now on */
static int session_lease_(lua_State *L) {
  const struct core *core = binding_check_session(L);
  int64_t lease = core->proof.lease_until - clock_now();
  lua_pushnumber(L, lease > 0 ? (lua_Number)lease / NANOSECONDS : 0);
  return 1;
}

static int session_nudge(lua_State *L) {
  core_nudge(binding_check_session(L));
  return 0;
}

static void leave(struct session_box *box) {
  struct core *core = box->core;
  if (!core) return;
  box->core = NULL;
  binding_leave_events(core, &box->events);
}

/* session:close() begins to close the session. session:leave() does this, too,
 * and also stops using the session's descriptor. */
static int session_close_(lua_State *L) {
  struct session_box *box = check_session(L);
  if (box->core) core_close(box->core);
  return 0;
}

static int session_leave(lua_State *L) {
  struct session_box *box = check_session(L);
  if (box->core) core_close(box->core);
  leave(box);
  return 0;
}

static int session_gc(lua_State *L) {
  struct session_box *box = binding_test_object(L, 1, &session_type);
  if (box) box->dead = true;
  /* Does nothing in a child of fork, because the session belongs to the
   * parent. */
  if (!box || !box->core || box->core->owner != process_id()) return 0;
  core_close(box->core);
  leave(box);
  return 0;
}

void binding_register_session(lua_State *L) {
  static const luaL_Reg methods[] = {{"fd", session_fd},
                                     {"next", session_next},
                                     {"noted", session_noted},
                                     {"wait", session_wait},
                                     {"state", session_state},
                                     {"id", session_id},
                                     {"timeout", session_timeout},
                                     {"error", session_error},
                                     {"stats", session_stats},
                                     {"lease", session_lease_},
                                     {"close", session_close_},
                                     {"leave", session_leave},
                                     {"nudge", session_nudge},
                                     {"is_behind", session_is_behind},
                                     {NULL, NULL}};
  binding_new_type(L, &session_type, methods, session_gc);
}
