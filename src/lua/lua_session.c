/* The session's userdata: opening, events, acquiring, asking, closing.
 *
 * A session is born closed and then opened, so that an error on the way
 * leaves a value that its __gc can deal with.  No function here waits for
 * the network but session:wait, which is the `poll` loop. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lua_binding.h"

static const char *const codes[] = {
    [VERDICT_TIMEOUT] = "timeout",     [VERDICT_BUSY] = "busy",
    [VERDICT_CANCELLED] = "cancelled", [VERDICT_LOST] = "lost",
    [VERDICT_EXPIRED] = "expired",     [VERDICT_DISCONNECTED] = "disconnected",
    [VERDICT_CLOSED] = "closed",       [VERDICT_AUTH] = "auth",
    [VERDICT_INVALID] = "invalid",
};

struct session_box {
  struct core *core;       /* NULL: closed, and left */
  struct message *pending; /* taken, not yet handed to Lua */
  enum session_state states[16];
  int state_count, state_next;
  bool ended; /* EVENT_CLOSED has come */
};

static struct session_box *check_session(lua_State *L) {
  struct session_box *box = luaL_checkudata(L, 1, SESSION);
  if (box->core) binding_check_process(L, box->core);
  return box;
}

struct core *binding_check_session(lua_State *L) {
  struct session_box *box = check_session(L);
  if (!box->core) luaL_error(L, "zklock: the session is closed");
  return box->core;
}

static struct core *check_open(lua_State *L) {
  return binding_check_session(L);
}

/* Seconds to a point in time; NEVER for none. */
static int64_t to_time(int64_t now, lua_Number seconds) {
  if (seconds >= 1e9) return NEVER;
  return now + (int64_t)(seconds * NANOSECONDS);
}

static int64_t opt_duration(lua_State *L, int index) {
  if (lua_isnoneornil(L, index)) return NEVER;
  lua_Number seconds = luaL_checknumber(L, index);
  return seconds >= 1e9 ? NEVER : (int64_t)(seconds * NANOSECONDS);
}

/* Opening. */

static char *copy_field(lua_State *L, int index, const char *name,
                        size_t *size) {
  size_t length;
  lua_getfield(L, index, name);
  const char *text = luaL_checklstring(L, -1, &length);
  char *copy = malloc(length + 1);
  if (copy) memcpy(copy, text, length + 1);
  if (size) *size = length;
  lua_pop(L, 1);
  return copy;
}

static bool read_credentials(lua_State *L, struct settings *settings) {
  lua_getfield(L, 1, "auth");
  int n = lua_isnil(L, -1) ? 0 : (int)lua_rawlen(L, -1);
  if (n > 0 && !(settings->credentials =
                     calloc((size_t)n, sizeof *settings->credentials)))
    return false;
  for (int i = 0; i < n; i++) {
    struct credential *c = &settings->credentials[i];
    lua_rawgeti(L, -1, i + 1);
    settings->credential_count = i + 1;
    c->scheme = copy_field(L, lua_gettop(L), "scheme", NULL);
    c->secret = copy_field(L, lua_gettop(L), "credential", &c->size);
    lua_pop(L, 1);
    if (!c->scheme || !c->secret) return false;
  }
  lua_pop(L, 1);
  return true;
}

static bool read_acl(lua_State *L, struct settings *settings) {
  lua_getfield(L, 1, "acl");
  int n = lua_isnil(L, -1) ? 0 : (int)lua_rawlen(L, -1);
  if (n > 0 && !(settings->acl = calloc((size_t)n, sizeof *settings->acl)))
    return false;
  for (int i = 0; i < n; i++) {
    struct acl_entry *entry = &settings->acl[i];
    lua_rawgeti(L, -1, i + 1);
    settings->acl_count = i + 1;
    entry->scheme = copy_field(L, lua_gettop(L), "scheme", NULL);
    entry->id = copy_field(L, lua_gettop(L), "id", NULL);
    lua_getfield(L, -1, "permissions");
    entry->permissions = (int)lua_tonumber(L, -1);
    lua_pop(L, 2);
    if (!entry->scheme || !entry->id) return false;
  }
  lua_pop(L, 1);
  return true;
}

struct settings_box {
  struct settings *settings;
};

int binding_new_session(lua_State *L) {
  struct session_box *box = lua_newuserdata(L, sizeof *box);
  memset(box, 0, sizeof *box);
  luaL_getmetatable(L, SESSION);
  lua_setmetatable(L, -2);
  return 1;
}

/* open({ hosts =, session_timeout =, least_session_timeout =, tick_time =,
 * auth =, acl =, log = } [, session]) → session */
int binding_open_session(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 2);
  if (lua_isnil(L, 2)) {
    binding_new_session(L);
    lua_replace(L, 2);
  }
  struct session_box *box = luaL_checkudata(L, 2, SESSION);
  luaL_argcheck(L, !box->core, 2, "already open");
  /* The settings hang on a userdata while errors may still be raised. */
  struct settings_box *holder = lua_newuserdata(L, sizeof *holder);
  holder->settings = NULL;
  luaL_getmetatable(L, SETTINGS);
  lua_setmetatable(L, -2);
  struct settings *settings = holder->settings = calloc(1, sizeof *settings);
  if (!settings) return luaL_error(L, "not enough memory");

  char fault[256];
  lua_getfield(L, 1, "hosts");
  if (!hosts_parse(&settings->hosts, luaL_checkstring(L, -1), fault,
                   sizeof fault))
    return luaL_error(L, "%s", *fault ? fault : "not enough memory");
  lua_getfield(L, 1, "session_timeout");
  settings->session_timeout_ms = (int)(luaL_checknumber(L, -1) * 1000);
  lua_getfield(L, 1, "least_session_timeout");
  if (!lua_isnil(L, -1)) {
    int least_ms = (int)(luaL_checknumber(L, -1) * 1000);
    settings->least_session_timeout_ms = least_ms > 0 ? least_ms : 1;
  }
  lua_getfield(L, 1, "tick_time"); /* (Rounded up, as that one is down.) */
  if (!lua_isnil(L, -1))
    settings->tick_time_ms = (int)(luaL_checknumber(L, -1) * 1000 + 0.999);
  lua_getfield(L, 1, "log");
  settings->want_log = lua_toboolean(L, -1);
  lua_pop(L, 5);
  if (!read_credentials(L, settings) || !read_acl(L, settings))
    return luaL_error(L, "not enough memory");

  const char *error = "";
  holder->settings = NULL;
  box->core = core_open(settings, &error);
  if (!box->core) {
    lua_pushnil(L);
    lua_pushstring(L, error);
    return 2;
  }
  lua_pushvalue(L, 2);
  return 1;
}

static int settings_gc(lua_State *L) {
  struct settings_box *holder = lua_touserdata(L, 1);
  settings_free(holder->settings);
  holder->settings = NULL;
  return 0;
}

/* Events. */

static int push_state(lua_State *L, const struct session_box *box) {
  lua_pushliteral(L, "state");
  lua_pushstring(L, session_state_name(box->states[box->state_next]));
  return 2;
}

/* "refused", number, code, how many are ahead, reason or nil; and if one of
 * them is known: the beginning of its data, does it hold, were they longer? */
static int push_refused(lua_State *L, const struct claim *claim) {
  lua_pushliteral(L, "refused");
  lua_pushnumber(L, (lua_Number)claim->number);
  lua_pushstring(L, codes[claim->verdict]);
  lua_pushinteger(L, claim->ahead);
  if (claim->verdict == VERDICT_INVALID && claim->reason == REASON_TOO_LARGE)
    lua_pushfstring(L, "a request of %d bytes is %s", claim->bytes,
                    client_reason(claim->reason));
  else if (claim->verdict == VERDICT_AUTH || claim->verdict == VERDICT_INVALID)
    lua_pushstring(L, client_reason(claim->reason));
  else
    lua_pushnil(L);
  if (claim->rival_size == 0) return 5;
  bool cut = claim->rival_size > OP_SHOWN;
  lua_pushlstring(L, claim->rival,
                  (size_t)(cut ? OP_SHOWN : claim->rival_size));
  lua_pushboolean(L, claim->rival_holds);
  lua_pushboolean(L, cut);
  return 8;
}

static void set_string(lua_State *L, const char *key, const char *format,
                       long long value) {
  char text[24];
  snprintf(text, sizeof text, format, value);
  lua_pushstring(L, text);
  lua_setfield(L, -2, key);
}

/* A contender as a table; the Lua layer says what it means. */
static void push_item(lua_State *L, const struct query *query,
                      const struct item *item) {
  static const char *const roles[] = {"unfair",    "mutex", "read",
                                      "write",     "lease", "kazoo-lock",
                                      "kazoo-read"};
  int size = item->size;
  lua_newtable(L);
  lua_pushstring(L, item->path + strlen(query->path) + 1);
  lua_setfield(L, -2, "node");
  lua_pushstring(L, roles[item->role]);
  lua_setfield(L, -2, "mode");
  lua_pushinteger(L, item->sequence);
  lua_setfield(L, -2, "sequence");
  lua_pushinteger(L, item->version);
  lua_setfield(L, -2, "version");
  set_string(L, "token", "%019lld", (long long)item->czxid);
  set_string(L, "session", "0x%llx", (long long)item->owner);
  lua_pushnumber(L, (lua_Number)item->ctime_ms / 1000);
  lua_setfield(L, -2, "created");
  if (size >= 0) {
    lua_pushlstring(L, item->data ? item->data : "", (size_t)size);
    lua_setfield(L, -2, "data");
  }
}

static void push_items(lua_State *L, const struct query *query) {
  lua_newtable(L);
  for (int i = 0, n = 0; i < query->count; i++) {
    if (!query->items[i].there) continue;
    push_item(L, query, &query->items[i]);
    lua_rawseti(L, -2, ++n);
  }
}

/* "answered", number, code or nil, reason or nil; of contenders: they, and
 * whether the path exists */
static int push_answered(lua_State *L, const struct query *query) {
  lua_pushliteral(L, "answered");
  lua_pushnumber(L, (lua_Number)query->number);
  int rc = query->rc;
  if (query->gone)
    lua_pushliteral(L, "lost");
  else if (rc == REPLY_OK)
    lua_pushnil(L);
  else if (rc == REPLY_NO_AUTH || rc == REPLY_AUTH_FAILED)
    lua_pushliteral(L, "auth");
  else
    lua_pushstring(L, rc == REPLY_LOST ? "disconnected" : "invalid");
  if (rc != REPLY_OK)
    lua_pushstring(L, client_reason(rc));
  else
    lua_pushnil(L);
  if (query->kind != QUERY_CONTENDERS) return 4;
  push_items(L, query);
  lua_pushboolean(L, !query->missing);
  return 6;
}

static int push_numbered(lua_State *L, const char *what, uint64_t number) {
  lua_pushstring(L, what);
  lua_pushnumber(L, (lua_Number)number);
  return 2;
}

static int push_event(lua_State *L, struct session_box *box,
                      struct message *message) {
  struct claim *claim = message->subject;
  struct log_line *line = message->subject;
  switch (message->kind) {
    case EVENT_GRANTED:
      return push_numbered(L, "granted", claim->number);
    case EVENT_REFUSED:
      return push_refused(L, claim);
    case EVENT_LOST:
      push_numbered(L, "lost", claim->number);
      lua_pushstring(L, contender_loss_name(claim_loss(claim)));
      return 3;
    case EVENT_GONE:
      return push_numbered(L, "gone", claim->number);
    case EVENT_REVOKED:
      return push_numbered(L, "revoked", claim->number);
    case EVENT_ANSWERED:
      return push_answered(L, message->subject);
    case EVENT_FAILED:
      lua_pushliteral(L, "failed");
      lua_pushstring(L, box->core->failure == CLIENT_REFUSED_AUTH
                            ? "auth"
                            : "disconnected");
      return 2;
    case EVENT_LOG:
      lua_pushliteral(L, "log");
      lua_pushstring(L, line->level);
      lua_pushstring(L, line->text);
      return 3;
    case EVENT_ENDED:
      return push_numbered(L, "ended",
                           ((struct request *)message->subject)->number);
    default:
      lua_pushliteral(L, "closed");
      return 1;
  }
}

/* session:next([host_read]) → kind, …: the next event, or nil; the same one
 * until it is noted() */
static int session_next(lua_State *L) {
  struct session_box *box = check_session(L);
  if (!box->core) return 0;
  for (;;) {
    if (box->state_next < box->state_count) return push_state(L, box);
    if (!box->pending)
      box->pending = core_take_events(box->core, lua_toboolean(L, 2));
    struct message *message = box->pending;
    if (!message) return 0;
    if (message->kind == EVENT_STATE) {
      box->pending = message->next;
      core_event_done(box->core, message);
      box->state_count = core_states(box->core, box->states);
      box->state_next = 0;
      continue;
    }
    if (message->kind == EVENT_NUDGE) {
      box->pending = message->next;
      core_event_done(box->core, message);
      continue;
    }
    return push_event(L, box, message);
  }
}

/* session:noted([queue, item]): appends the item to the queue, and at the same
 * moment the event that next() has said is over */
static int session_noted(lua_State *L) {
  struct session_box *box = check_session(L);
  if (!lua_isnoneornil(L, 3)) {
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 3);
    lua_rawseti(L, 2, (int)lua_rawlen(L, 2) + 1);
  }
  if (!box->core) return 0;
  struct message *message = box->pending;
  if (box->state_next < box->state_count) {
    box->state_next++;
  } else if (message) {
    box->pending = message->next;
    if (message->kind == EVENT_CLOSED) box->ended = true;
    core_event_done(box->core, message);
  }
  return 0;
}

/* session:wait(seconds|nil): blocks until there may be an event; returns early
 * after a signal, so that what its handler wants of Lua (a hook) gets to run */
static int session_wait(lua_State *L) {
  const struct core *core = check_open(L);
  struct pollfd fd = {.fd = core->channel.lua.read_fd, .events = POLLIN};
  int64_t left = NEVER;
  if (!lua_isnoneornil(L, 2)) left = opt_duration(L, 2);
  int timeout = left == NEVER           ? -1
                : left <= 0             ? 0
                : left > 86400000000000 ? 86400000
                                        : (int)(left / 1000000) + 1;
  lua_pushboolean(L, poll(&fd, 1, timeout) > 0);
  return 1;
}

static int session_fd(lua_State *L) {
  lua_pushinteger(L, check_open(L)->channel.lua.read_fd);
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
           (unsigned long long)check_open(L)->session_id);
  lua_pushstring(L, text);
  return 1;
}

static int session_timeout(lua_State *L) {
  lua_pushnumber(L, (lua_Number)check_open(L)->timeout / NANOSECONDS);
  return 1;
}

static int session_error(lua_State *L) {
  char text[200];
  core_error(check_open(L), text, sizeof text);
  lua_pushstring(L, text);
  return 1;
}

static int session_stats(lua_State *L) {
  struct core *core = check_open(L);
  lua_newtable(L);
#define X(name)                                                            \
  lua_pushinteger(L, (lua_Integer)session_counters(&core->session)->name); \
  lua_setfield(L, -2, #name);
  SESSION_COUNTERS(X)
#undef X
  /* What Lua has given back is held no more, whatever is still under way. */
  lua_pushinteger(L, core->closed ? 0 : core->held);
  lua_setfield(L, -2, "holding");
  lua_newtable(L);
  for (int i = 0; i < WAIT_BUCKETS; i++) {
    lua_pushinteger(L, (lua_Integer)core->waits[i]);
    lua_rawseti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "wait_histogram");
  return 1;
}

static int session_nudge(lua_State *L) {
  core_nudge(check_open(L));
  return 0;
}

static void leave(struct session_box *box) {
  struct core *core = box->core;
  if (!core) return;
  box->core = NULL;
  while (box->pending) {
    struct message *message = box->pending;
    box->pending = message->next;
    core_event_done(core, message);
  }
  core_leave(core, box->ended);
  core_forget(core);
}

/* session:close(): begins to close; session:leave() ends the use of the fd */
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
  struct session_box *box = lua_touserdata(L, 1);
  /* In a child of fork it is the parent's: not touched. */
  if (!box->core || box->core->owner != getpid()) return 0;
  core_close(box->core);
  leave(box);
  return 0;
}

static lua_Number number_field(lua_State *L, int index, const char *name,
                               lua_Number missing) {
  lua_getfield(L, index, name);
  lua_Number value = lua_isnil(L, -1) ? missing : lua_tonumber(L, -1);
  lua_pop(L, 1);
  return value;
}

/* The writer that is downgraded, if one is, from its hold. */
static void read_writer(lua_State *L, int index,
                        struct contender_options *options) {
  lua_getfield(L, index, "writer");
  options->downgrade = !lua_isnil(L, -1);
  if (options->downgrade) {
    const struct claim *claim = binding_check_hold(L, -1)->claim;
    memcpy(options->writer, claim->node, sizeof options->writer);
    options->writer_token = claim->token;
  }
  lua_pop(L, 1);
}

static enum kind read_kind(lua_State *L, int index) {
  static const char *const kinds[] = {"mutex", "read",   "write",
                                      "lease", "unfair", NULL};
  lua_getfield(L, index, "kind");
  int kind = luaL_checkoption(L, -1, "mutex", kinds);
  lua_pop(L, 1);
  return (enum kind)kind;
}

static enum layout read_layout(lua_State *L, int index) {
  static const char *const layouts[] = {"curator", "kazoo", NULL};
  lua_getfield(L, index, "layout");
  int layout = luaL_checkoption(L, -1, "curator", layouts);
  lua_pop(L, 1);
  return (enum layout)layout;
}

static enum strategy read_strategy(lua_State *L, int index) {
  static const char *const strategies[] = {"predecessor", "parent", "poll",
                                           NULL};
  lua_getfield(L, index, "wait");
  int strategy = luaL_checkoption(L, -1, "predecessor", strategies);
  lua_pop(L, 1);
  return (enum strategy)strategy;
}

/* session:acquire(path, seconds|nil, patient, data, max_hold|nil, lock
 *   [, empty hold]) → hold, number;  lock: kind, permits, wait, poll_interval, handoffs,
 * lose_on_suspend, writer */
static int session_acquire_(lua_State *L) {
  struct core *core = check_open(L);
  struct contender_options options = {0};
  size_t size;
  const char *path = luaL_checkstring(L, 2);
  const char *data = luaL_checklstring(L, 5, &size);
  luaL_checktype(L, 7, LUA_TTABLE);
  options.deadline = NEVER;
  if (!lua_isnoneornil(L, 3))
    options.deadline = to_time(clock_now(), luaL_checknumber(L, 3));
  options.patient = lua_toboolean(L, 4);
  options.max_hold = opt_duration(L, 6);
  options.kind = read_kind(L, 7);
  options.layout = read_layout(L, 7);
  options.strategy = read_strategy(L, 7);
  options.permits = (int)number_field(L, 7, "permits", 1);
  options.handoffs = (int)number_field(L, 7, "handoffs", 0);
  options.poll_interval =
      (int64_t)(number_field(L, 7, "poll_interval", 1) * NANOSECONDS);
  options.lose_on_suspend = number_field(L, 7, "lose_on_suspend", 0) != 0;
  read_writer(L, 7, &options);
  struct hold_box *box = binding_empty_hold(L, 8);
  struct claim *claim = core_acquire(core, path, data, size, &options);
  if (!claim) return luaL_error(L, "not enough memory");
  core_keep(core);
  box->core = core;
  box->claim = claim;
  box->live = true;
  claim->shares = 1;
  lua_pushnumber(L, (lua_Number)claim->number);
  return 2;
}

static int ask(lua_State *L, struct core *core, struct query *query) {
  if (!query) return luaL_error(L, "not enough memory");
  lua_pushnumber(L, (lua_Number)core_ask(core, query));
  return 1;
}

/* session:verify(hold) → number */
static int session_verify(lua_State *L) {
  struct core *core = check_open(L);
  struct hold_box *box = binding_check_hold(L, 2);
  return ask(L, core,
             query_new(QUERY_VERIFY, "", NULL, NULL, 0, 0, box->claim));
}

/* session:contenders(path) → number */
static int session_contenders(lua_State *L) {
  struct core *core = check_open(L);
  return ask(L, core,
             query_new(QUERY_CONTENDERS, core->settings->hosts.chroot,
                       luaL_checkstring(L, 2), NULL, 0, 0, NULL));
}

/* session:write(path, data, version) → number */
static int session_write(lua_State *L) {
  struct core *core = check_open(L);
  size_t size;
  const char *path = luaL_checkstring(L, 2);
  const char *data = luaL_checklstring(L, 3, &size);
  return ask(L, core,
             query_new(QUERY_WRITE, core->settings->hosts.chroot, path, data,
                       size, (int)luaL_checknumber(L, 4), NULL));
}

void binding_register_session(lua_State *L) {
  static const luaL_Reg session[] = {{"fd", session_fd},
                                     {"next", session_next},
                                     {"noted", session_noted},
                                     {"wait", session_wait},
                                     {"state", session_state},
                                     {"id", session_id},
                                     {"timeout", session_timeout},
                                     {"error", session_error},
                                     {"stats", session_stats},
                                     {"close", session_close_},
                                     {"leave", session_leave},
                                     {"acquire", session_acquire_},
                                     {"verify", session_verify},
                                     {"contenders", session_contenders},
                                     {"write", session_write},
                                     {"nudge", session_nudge},
                                     {"open_doorway", binding_open_doorway},
                                     {"enter_doorway", binding_enter_doorway},
                                     {"request", binding_new_request},
                                     {"requests", binding_requests},
                                     {NULL, NULL}};
  static const luaL_Reg none[] = {{NULL, NULL}};
  binding_new_class(L, SESSION, session, session_gc);
  binding_new_class(L, SETTINGS, none, settings_gc);
}
