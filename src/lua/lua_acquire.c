/* Implements session:acquire, which begins an acquisition and stores it in a
 * hold reference. The options come from the Lua layer. All acquisitions of a
 * lock object use the same options, so lock_options can read them once, into a
 * userdata. */
#include <string.h>

#include "lua_hold_ref.h"

enum { LOCK = 7 }; /* index of acquire's argument `lock` */

/* Returns the number in the field `name` of the table at index `lock`. Returns
 * `missing` if the field is nil. Raises an error if the number is not between
 * `least` and `most`. */
static lua_Number number_field(lua_State *L, int lock, const char *name,
                               lua_Number missing, lua_Number least,
                               lua_Number most) {
  lua_getfield(L, lock, name);
  lua_Number value = lua_isnil(L, -1) ? missing : lua_tonumber(L, -1);
  if (!(value >= least && value <= most)) {
    lua_pushfstring(L, "%s is no such number", name);
    luaL_argerror(L, lock, lua_tostring(L, -1));
  }
  lua_pop(L, 1);
  return value;
}

static bool flag_field(lua_State *L, int lock, const char *name) {
  lua_getfield(L, lock, name);
  bool flag = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return flag;
}

/* Reads the field `writer`: nil, or the hold reference of a write lock that
 * this acquisition downgrades. Leaves it on the stack. Returns the hold
 * reference, or NULL for nil. */
static const struct hold_ref *read_writer(lua_State *L, int lock,
                                          struct contender_options *options) {
  lua_getfield(L, lock, "writer");
  options->downgrade = !lua_isnil(L, -1);
  if (!options->downgrade) return NULL;
  const struct hold_ref *hold_ref = binding_check_granted(L, lua_gettop(L));
  int32_t number;
  name_parse(acquisition_node(hold_ref->acquisition), &number);
  options->writer_number = number;
  options->writer_token = hold_ref->acquisition->token;
  return hold_ref;
}

/* Returns the index in `words` of the string in the field `name`. Returns 0,
 * the index of the default, if the field is nil. Raises an error for other
 * values. */
static int read_choice(lua_State *L, int lock, const char *name,
                       const char *const *words) {
  lua_getfield(L, lock, name);
  if (!lua_isnil(L, -1)) luaL_checktype(L, -1, LUA_TSTRING);
  int i = luaL_checkoption(L, -1, words[0], words);
  lua_pop(L, 1);
  return i;
}

/* Returns whether the protocol supports this combination of options. For
 * example, only the acquisition of a read lock can downgrade a writer. */
static bool is_possible(const struct contender_options *options) {
  bool ordered = options->kind != KIND_UNFAIR && options->kind != KIND_PERMIT &&
                 options->kind != KIND_MEMBER;
  bool plain = options->strategy == WAIT_PREDECESSOR;
  return (ordered || options->layout == LAYOUT_CURATOR) &&
         (options->kind == KIND_MUTEX || options->layout != LAYOUT_LATCH) &&
         (options->kind == KIND_MUTEX ||
          (plain && options->local_turns == 0)) &&
         (plain || options->local_turns == 0) &&
         (options->kind == KIND_READ || !options->downgrade);
}

/* Reads the options of a lock from the table at index `lock`. Returns the hold
 * reference of the writer to downgrade, or NULL if there is none. */
static const struct hold_ref *read_lock(lua_State *L, int lock,
                                        struct contender_options *options) {
  /* The words of each list have the order of the list's enum in rule.h or
   * contender.h. */
  static const char *const kinds[] = {"mutex",  "read",   "write", "permit",
                                      "unfair", "member", NULL};
  static const char *const layouts[] = {"curator", "kazoo", "latch", NULL};
  static const char *const strategies[] = {"predecessor", "parent", "poll",
                                           NULL};
  options->kind = (enum kind)read_choice(L, lock, "kind", kinds);
  options->layout = (enum layout)read_choice(L, lock, "layout", layouts);
  options->strategy = (enum strategy)read_choice(L, lock, "wait", strategies);
  options->permits = (int)number_field(L, lock, "permits", 1, 1, 1e6);
  options->local_turns = (int)number_field(L, lock, "local_turns", 0, 0, 1e6);
  options->poll_interval =
      (int64_t)(number_field(L, lock, "poll_interval", 1, 0.001, 1e9) *
                NANOSECONDS);
  options->lose_on_suspend = flag_field(L, lock, "lose_on_suspend");
  options->shares_path = flag_field(L, lock, "share_path");
  const struct hold_ref *writer = read_writer(L, lock, options);
  luaL_argcheck(L, is_possible(options), lock, "no lock has these options");
  return writer;
}

/* The type of the userdata that lock_options returns. The userdata contains a
 * struct contender_options. */
static const struct object_type lock_options_type = {"zklock.lock_options"};

int binding_new_lock_options(lua_State *L) {
  struct contender_options options = {0};
  lua_settop(L, 1);
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_argcheck(L, !read_lock(L, 1, &options), 1,
                "these options name a writer");
  struct contender_options *lock_options =
      binding_new_object(L, &lock_options_type, sizeof *lock_options);
  *lock_options = options;
  return 1;
}

/* Reads the options of a lock at `index`: a userdata from lock_options, or a
 * table. If they name a writer to downgrade, returns its hold reference and
 * leaves it on the stack. Otherwise returns NULL. */
static const struct hold_ref *read_lock_options(
    lua_State *L, int index, struct contender_options *options) {
  const struct contender_options *lock_options =
      binding_test_object(L, index, &lock_options_type);
  if (!lock_options) {
    luaL_checktype(L, index, LUA_TTABLE);
    return read_lock(L, index, options);
  }
  *options = *lock_options;
  return NULL;
}

/* Returns whether `hold_ref` belongs to a write lock of this session, with this
 * path and layout. */
static bool is_writer(const struct hold_ref *hold_ref, const struct core *core,
                      const char *path, enum layout layout) {
  const struct acquisition *acquisition = hold_ref->acquisition;
  return hold_ref->core == core &&
         acquisition->contender.options.kind == KIND_WRITE &&
         acquisition->contender.options.layout == layout &&
         strcmp(acquisition->path + acquisition->prefix, path) == 0;
}

/* session:acquire(path, seconds|nil, patient, data, max_hold|nil, lock
 *   [, hold_ref]) → hold_ref, number
 *
 * Begins an acquisition. If `patient` is false, it is refused unless the lock
 * is free. Returns its hold reference, and the number that identifies it in
 * events. `lock` is a userdata from lock_options, or a table. The table's
 * fields are kind, layout, permits, wait, poll_interval, local_turns,
 * lose_on_suspend and writer.
 *
 * `hold_ref` must be empty, or wait in a local queue; without it, the function
 * creates a new one. If `hold_ref` waits in a local queue, the acquisition
 * takes over its number and deadline. */
static int acquire(lua_State *L) {
  struct contender_options options = {0};
  size_t size;
  lua_settop(L, 8);
  const char *path = binding_check_path(L, 2);
  const char *data = binding_check_data(L, 5, &size);
  const struct hold_ref *writer = read_lock_options(L, LOCK, &options);
  options.deadline = binding_opt_deadline(L, 3);
  options.patient = lua_toboolean(L, 4);
  options.max_hold = binding_opt_duration(L, 6);
  struct hold_ref *hold_ref = binding_vacant_hold_ref(L, 8);
  /* From here on, this function must not allocate in Lua: a finalizer could
   * leave the session (lua_binding.h). */
  struct core *core = binding_check_open(L);
  luaL_argcheck(L, !writer || is_writer(writer, core, path, options.layout),
                LOCK, "not the writer of this lock");
  luaL_argcheck(L, !hold_ref->core || hold_ref->core == core, 8,
                "of another session");
  if (hold_ref->core) options.deadline = hold_ref->turn.deadline;
  struct acquisition *acquisition =
      core_acquire(core, path, data, size, &options, &hold_ref->turn);
  if (!acquisition) return luaL_error(L, "not enough memory");
  binding_fill_hold_ref(hold_ref, core, acquisition);
  lua_pushnumber(L, (lua_Number)acquisition->number);
  return 2;
}

/* session:stand(hold_ref, seconds|nil) → number
 *
 * Makes `hold_ref`, which must be empty, wait in a local queue for at most this
 * time. The wait ends when another hold reference passes its hold to
 * `hold_ref`. Returns the number that identifies the wait, and later its turn,
 * in events. */
static int stand(lua_State *L) {
  lua_settop(L, 3);
  int64_t deadline = binding_opt_deadline(L, 3);
  struct hold_ref *hold_ref = binding_vacant_hold_ref(L, 2);
  luaL_argcheck(L, !hold_ref->core, 2, "not empty");
  struct core *core = binding_check_open(L);
  binding_begin_local_wait(hold_ref, core, deadline);
  core_set_alarm(core, deadline);
  lua_pushnumber(L, (lua_Number)hold_ref->turn.number);
  return 1;
}

void binding_register_acquire(lua_State *L) {
  static const luaL_Reg none[] = {{NULL, NULL}};
  binding_new_type(L, &lock_options_type, none, NULL);
  static const luaL_Reg methods[] = {{"acquire", acquire},
                                     {"stand", stand},
                                     {NULL, NULL}};
  binding_add_methods(L, &session_type, methods);
}
