/* What a session is asked, beside its locks: each gives the number that the
 * event with the answer has. */
#include "lua_questions.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "io/barrier.h"
#include "io/eviction.h"
#include "io/inspection.h"
#include "io/revocation.h"
#include "io/stamp.h"
#include "io/survey.h"
#include "lua_answers.h"
#include "lua_session.h"
#include "lua_share.h"

static int ask(lua_State *L, struct core *core, struct query *query) {
  if (!query) return luaL_error(L, "not enough memory");
  lua_pushnumber(L, (lua_Number)core_ask(core, query));
  return 1;
}

/* session:verify(hold) → number */
static int session_verify(lua_State *L) {
  struct core *core = binding_check_open(L);
  const struct share *share = binding_check_share(L, 2);
  luaL_argcheck(L, share->core == core, 2, "of another session");
  return ask(L, core, query_to_verify(claim_root(share->claim)));
}

/* session:contenders(path, with_data) → number */
static int session_contenders(lua_State *L) {
  const char *path = binding_check_path(L, 2);
  bool with_data = lua_toboolean(L, 3);
  struct core *core = binding_check_open(L);
  return ask(L, core,
             survey_new(core->settings->hosts.chroot, path, with_data));
}

/* session:head(path, mode) → number */
static int session_head(lua_State *L) {
  const char *path = binding_check_path(L, 2);
  int role = luaL_checkoption(L, 3, NULL, binding_roles);
  struct core *core = binding_check_open(L);
  return ask(L, core,
             survey_of_head(core->settings->hosts.chroot, path,
                            (enum role)role));
}

/* What is on top, `{ name, size, name, size, … }`, into the query.  Nothing
 * here raises: the query would be nobody's.  False: there is no memory. */
static bool add_nodes(lua_State *L, struct query *query) {
  for (int i = 1, n = (int)lua_rawlen(L, -1); i < n; i += 2) {
    lua_rawgeti(L, -1, i);
    lua_rawgeti(L, -2, i + 1);
    bool is_node = lua_type(L, -2) == LUA_TSTRING;
    lua_Number size = lua_tonumber(L, -1);
    bool is_size = size > 0 && size <= INT_MAX;
    bool ok = !is_node || revocation_add(query, lua_tostring(L, -2),
                                         is_size ? (int)size : 0);
    lua_pop(L, 2);
    if (!ok) return false;
  }
  return true;
}

/* session:revoke(path, { name, size, … }) → number */
static int session_revoke(lua_State *L) {
  const char *path = binding_check_path(L, 2);
  luaL_checktype(L, 3, LUA_TTABLE);
  lua_settop(L, 3);
  struct core *core = binding_check_open(L);
  struct query *query = revocation_new(core->settings->hosts.chroot, path);
  if (query && !add_nodes(L, query)) {
    query_free(query);
    query = NULL;
  }
  return ask(L, core, query);
}

/* A path, or "/", which is the chroot itself. */
static const char *check_place(lua_State *L, const char *chroot) {
  size_t size = 0;
  const char *path =
      lua_type(L, 2) == LUA_TSTRING ? lua_tolstring(L, 2, &size) : "";
  if (size != 1 || *path != '/') return binding_check_path(L, 2);
  return *chroot ? "" : "/";
}

/* session:stat(path, with_data) → number */
static int session_stat(lua_State *L) {
  struct core *core = binding_check_open(L);
  const char *chroot = core->settings->hosts.chroot;
  return ask(L, core,
             inspection_of_node(chroot, check_place(L, chroot),
                                lua_toboolean(L, 3)));
}

/* session:children(path) → number */
static int session_children(lua_State *L) {
  struct core *core = binding_check_open(L);
  const char *chroot = core->settings->hosts.chroot;
  return ask(L, core, inspection_of_children(chroot, check_place(L, chroot)));
}

/* session:stamp(path, data[, node]) → number */
static int session_stamp(lua_State *L) {
  const char *path = binding_check_path(L, 2);
  size_t size;
  const char *data = binding_check_data(L, 3, &size);
  const char *node = lua_isnoneornil(L, 4) ? NULL : binding_check_path(L, 4);
  struct core *core = binding_check_open(L);
  return ask(L, core,
             stamp_new(core->settings->hosts.chroot, path, node, data, size));
}

/* session:evict(path, node[, token]) → number */
static int session_evict(lua_State *L) {
  const char *path = binding_check_path(L, 2);
  size_t length;
  const char *node = luaL_checklstring(L, 3, &length);
  const char *fault = path_node_fault(node, length);
  if (fault) return luaL_argerror(L, 3, fault);
  int64_t token = strtoll(luaL_optstring(L, 4, "-1"), NULL, 10);
  struct core *core = binding_check_open(L);
  return ask(L, core,
             eviction_new(core->settings->hosts.chroot, path, node, token));
}

/* session:set(path, data) → number */
static int session_set(lua_State *L) {
  const char *path = binding_check_path(L, 2);
  size_t size;
  const char *data = binding_check_data(L, 3, &size);
  struct core *core = binding_check_open(L);
  return ask(L, core,
             barrier_to_set(core->settings->hosts.chroot, path, data, size));
}

/* session:lift(path) → number */
static int session_lift(lua_State *L) {
  const char *path = binding_check_path(L, 2);
  struct core *core = binding_check_open(L);
  return ask(L, core, barrier_to_lift(core->settings->hosts.chroot, path));
}

void binding_register_questions(lua_State *L) {
  static const luaL_Reg methods[] = {{"verify", session_verify},
                                     {"contenders", session_contenders},
                                     {"head", session_head},
                                     {"revoke", session_revoke},
                                     {"stat", session_stat},
                                     {"children", session_children},
                                     {"stamp", session_stamp},
                                     {"evict", session_evict},
                                     {"set", session_set},
                                     {"lift", session_lift},
                                     {NULL, NULL}};
  binding_add_methods(L, &session_type, methods);
}
