/* The hold's userdata: one share of a hold, which its guard stands on. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lua_binding.h"

struct hold_box *binding_check_hold(lua_State *L, int index) {
  struct hold_box *box = luaL_checkudata(L, index, HOLD);
  if (!box->core) luaL_error(L, "zklock: this share is empty");
  return box;
}

int binding_new_hold(lua_State *L) {
  struct hold_box *box = lua_newuserdata(L, sizeof *box);
  memset(box, 0, sizeof *box);
  luaL_getmetatable(L, HOLD);
  lua_setmetatable(L, -2);
  return 1;
}

struct hold_box *binding_empty_hold(lua_State *L, int index) {
  if (lua_isnoneornil(L, index))
    binding_new_hold(L);
  else
    lua_pushvalue(L, index);
  struct hold_box *box = luaL_checkudata(L, -1, HOLD);
  luaL_argcheck(L, !box->core, index, "not empty");
  return box;
}

/* hold:again([empty]) → another share of the same hold */
static int hold_again(lua_State *L) {
  struct hold_box *box = binding_check_hold(L, 1);
  binding_check_process(L, box->core);
  struct hold_box *copy = binding_empty_hold(L, 2);
  claim_keep(box->claim);
  core_keep(box->core);
  copy->core = box->core;
  copy->claim = box->claim;
  copy->live = true;
  copy->claim->shares++;
  return 1;
}

/* Gives a share back; the last one ends the hold.  False: it was lost. */
static bool give_back(struct hold_box *box, bool report) {
  box->live = false;
  bool last = --box->claim->shares == 0;
  if (box->claim->state == CLAIM_WAITING) {
    core_abandon(box->core, box->claim);
    return true;
  }
  if (last) return core_release(box->core, box->claim, report);
  return !claim_loss(box->claim);
}

/* hold:release(report) → true, or false: lost; then: was it the last share?
 * Idempotent: once more it says the same. */
static int hold_release(lua_State *L) {
  struct hold_box *box = luaL_checkudata(L, 1, HOLD);
  if (box->core) binding_check_process(L, box->core);
  if (box->live) {
    box->kept = give_back(box, lua_toboolean(L, 2));
    box->last = box->claim->shares == 0;
  }
  lua_pushboolean(L, box->kept);
  lua_pushboolean(L, box->last);
  return 2;
}

static int hold_cancel(lua_State *L) {
  struct hold_box *box = binding_check_hold(L, 1);
  binding_check_process(L, box->core);
  core_cancel(box->core, box->claim);
  return 0;
}

static int hold_gc(lua_State *L) {
  struct hold_box *box = lua_touserdata(L, 1);
  if (!box->core || box->core->owner != getpid()) return 0;
  struct claim *claim = box->claim;
  if (box->live) {
    bool held = claim->state == CLAIM_HELD;
    give_back(box, false);
    if (held && claim->shares == 0 && !box->core->closed) {
      char text[PATH_MAX_BYTES + 80];
      snprintf(text, sizeof text,
               "a guard of %.*s was collected without release; it is released",
               (int)(claim->length - claim->prefix),
               claim->path + claim->prefix);
      log_say(&box->core->log, "warn", text);
    }
  }
  claim_drop(claim);
  core_forget(box->core);
  box->core = NULL;
  return 0;
}

static bool is_usable(const struct hold_box *box) {
  return box->live && !box->core->closed && box->core->owner == getpid();
}

static int hold_is_held(lua_State *L) {
  const struct hold_box *box = binding_check_hold(L, 1);
  lua_pushboolean(L, is_usable(box) && claim_is_held(box->claim));
  return 1;
}

static int hold_lease(lua_State *L) {
  const struct hold_box *box = binding_check_hold(L, 1);
  int64_t lease = is_usable(box) ? claim_lease(box->claim) : 0;
  lua_pushnumber(L,
                 lease == NEVER ? HUGE_VAL : (lua_Number)lease / NANOSECONDS);
  return 1;
}

/* hold:state() → "waiting", "refused", "held", "suspended", "released",
 * "lost" */
static int hold_state(lua_State *L) {
  static const char *const names[] = {"waiting", "refused", "held", "released"};
  const struct hold_box *box = binding_check_hold(L, 1);
  binding_check_process(L, box->core);
  int state = box->claim->state;
  if (state == CLAIM_HELD && (!box->live || box->core->closed))
    state = CLAIM_RELEASED;
  /* Suspended at the first doubt: no server, or no proof by our own clock. */
  if (state == CLAIM_HELD && (box->core->proof.state != SESSION_CONNECTED ||
                              !claim_is_held(box->claim)))
    lua_pushliteral(L, "suspended");
  else
    lua_pushstring(L, claim_loss(box->claim) ? "lost" : names[state]);
  return 1;
}

/* hold:reason() → why it was lost, as far as has been said */
static int hold_reason(lua_State *L) {
  const struct hold_box *box = binding_check_hold(L, 1);
  binding_check_process(L, box->core);
  lua_pushstring(L, contender_loss_name(claim_loss(box->claim)));
  return 1;
}

/* hold:find_loss() → the same, and now it is said */
static int hold_find_loss(lua_State *L) {
  const struct hold_box *box = binding_check_hold(L, 1);
  binding_check_process(L, box->core);
  lua_pushstring(L, contender_loss_name(core_find_loss(box->core, box->claim)));
  return 1;
}

static int hold_token(lua_State *L) {
  const struct hold_box *box = binding_check_hold(L, 1);
  char text[24];
  snprintf(text, sizeof text, "%019lld", (long long)box->claim->token);
  lua_pushstring(L, text);
  return 1;
}

static int hold_token_number(lua_State *L) {
  const struct hold_box *box = binding_check_hold(L, 1);
#if LUA_VERSION_NUM >= 503
  lua_pushinteger(L, (lua_Integer)box->claim->token);
#else
  if (box->claim->token > INT64_C(9007199254740991))
    return luaL_error(L,
                      "zklock: the token %019lld is not exact as a number "
                      "of this Lua: use token()",
                      (long long)box->claim->token);
  lua_pushnumber(L, (lua_Number)box->claim->token);
#endif
  return 1;
}

static int hold_node(lua_State *L) {
  lua_pushstring(L, binding_check_hold(L, 1)->claim->node);
  return 1;
}

/* hold:watch(): hear soon of what is done to our node */
static int hold_watch(lua_State *L) {
  struct hold_box *box = binding_check_hold(L, 1);
  binding_check_process(L, box->core);
  if (!box->core->closed) core_guard(box->core, box->claim);
  return 0;
}

static int hold_turn(lua_State *L) {
  lua_pushinteger(L, binding_check_hold(L, 1)->claim->turn);
  return 1;
}

void binding_register_hold(lua_State *L) {
  static const luaL_Reg hold[] = {
      {"again", hold_again},         {"release", hold_release},
      {"cancel", hold_cancel},       {"is_held", hold_is_held},
      {"lease", hold_lease},         {"state", hold_state},
      {"token", hold_token},         {"token_number", hold_token_number},
      {"node", hold_node},           {"watch", hold_watch},
      {"turn", hold_turn},           {"reason", hold_reason},
      {"find_loss", hold_find_loss}, {NULL, NULL}};
  binding_new_class(L, HOLD, hold, hold_gc);
}
