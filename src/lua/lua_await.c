/* Implements the userdata of an await, struct awaiting. An await waits for a
 * change of a node, or makes a member leave a double barrier (io/await.h). If
 * Lua collects the userdata, the wait is cancelled. */
#include "io/process.h"
#include "lua_hold_ref.h"

struct awaiting {
  struct core *core; /* NULL: the userdata is empty or finalized */
  struct await *await;
  bool dead;
};

static const struct object_type await_type = {"zklock.await"};

int binding_new_await(lua_State *L) {
  binding_new_object(L, &await_type, sizeof(struct awaiting));
  return 1;
}

/* Pushes and returns the await's userdata at `index`, which must be empty. If
 * the argument is missing or nil, pushes and returns a new userdata. */
static struct awaiting *empty(lua_State *L, int index) {
  if (lua_isnoneornil(L, index)) {
    binding_new_await(L);
    return lua_touserdata(L, -1);
  }
  struct awaiting *a = binding_check_object(L, index, &await_type);
  luaL_argcheck(L, !a->core && !a->dead, index, "not empty");
  lua_pushvalue(L, index);
  return a;
}

/* Stores the await in the userdata, and starts the await. Pushes its number,
 * and returns how many results the Lua function has. Allocates nothing in Lua:
 * see lua_binding.h. */
static int begin(lua_State *L, struct awaiting *a, struct core *core,
                 struct await *await) {
  if (!await) return luaL_error(L, "not enough memory");
  core_keep(core);
  a->core = core;
  a->await = await;
  lua_pushnumber(L, (lua_Number)core_await(core, await));
  return 2;
}

/* session:await(what, path, seconds|nil, patient, known [, empty])
 *   → awaiting, number;  what: "gone", "there", "crowd"
 *
 * Begins to wait for a change of the node at `path`. "gone": the node is
 * missing. "there": the node exists. "crowd": the number of its contenders
 * differs from `known`. If `patient` is false, the wait ends with the server's
 * first replies, even if the node has not changed.
 *
 * Returns the await's userdata, and the await's number, which is also in the
 * event at the end of the wait. The userdata is `empty`, if that is given. */
static int session_await(lua_State *L) {
  static const char *const words[] = {"gone", "there", "crowd", NULL};
  lua_settop(L, 7);
  enum node_wait_kind kind =
      (enum node_wait_kind)luaL_checkoption(L, 2, NULL, words);
  const char *path = binding_check_path(L, 3);
  int64_t until = binding_opt_deadline(L, 4);
  bool patient = lua_toboolean(L, 5);
  int known = binding_to_int(lua_tonumber(L, 6));
  struct awaiting *a = empty(L, 7);
  struct core *core = binding_check_open(L);
  return begin(L, a, core,
               await_new(core->settings->hosts.chroot, path, kind, known,
                         patient, until));
}

/* session:depart(hold_ref, seconds|nil, patient [, empty]) → awaiting, number
 *
 * Begins to leave a double barrier; `hold_ref` belongs to the member that
 * leaves. If `patient` is false, does not wait for the other members. Returns
 * the same values as session:await. */
static int session_depart_(lua_State *L) {
  lua_settop(L, 5);
  int64_t until = binding_opt_deadline(L, 3);
  bool patient = lua_toboolean(L, 4);
  struct awaiting *a = empty(L, 5);
  struct core *core = binding_check_open(L);
  const struct hold_ref *hold_ref = binding_check_granted(L, 2);
  luaL_argcheck(L, hold_ref->core == core, 2, "of another session");
  luaL_argcheck(L, hold_ref->acquisition->contender.options.kind == KIND_MEMBER,
                2, "not a member's");
  return begin(L, a, core,
               await_barrier_leave(hold_ref->acquisition, patient, until));
}

static int await_cancel(lua_State *L) {
  struct awaiting *a = binding_check_object(L, 1, &await_type);
  if (!a->core) return 0;
  binding_check_process(L, a->core);
  core_cancel_await(a->core, a->await);
  return 0;
}

/* Cancels the wait and drops the await. Does nothing in a child of fork,
 * because the await belongs to the parent. */
static int await_gc(lua_State *L) {
  struct awaiting *a = binding_test_object(L, 1, &await_type);
  if (a) a->dead = true;
  if (!a || !a->core || a->core->owner != process_id()) return 0;
  core_cancel_await(a->core, a->await);
  subject_drop(&a->await->subject);
  core_drop(a->core);
  a->core = NULL;
  return 0;
}

void binding_register_await(lua_State *L) {
  static const luaL_Reg methods[] = {{"cancel", await_cancel},
                                     {"release", await_cancel},
                                     {NULL, NULL}};
  static const luaL_Reg of_session[] = {{"await", session_await},
                                        {"depart", session_depart_},
                                        {NULL, NULL}};
  binding_new_type(L, &await_type, methods, await_gc);
  binding_add_methods(L, &session_type, of_session);
}
