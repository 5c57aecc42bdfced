/* The userdata that a guard stands on: one share of what is held. */
#include "lua_share.h"

#include <math.h>
#include <stdio.h>

#include "io/clock.h"
#include "io/process.h"

static const struct object_type share_type = {"zklock.hold"};

struct share *binding_check_share(lua_State *L, int index) {
  struct share *share = binding_check_object(L, index, &share_type);
  if (!share->core) luaL_error(L, "zklock: this share is empty");
  return share;
}

struct share *binding_check_granted(lua_State *L, int index) {
  struct share *share = binding_check_share(L, index);
  if (claim_state(share->claim) < CLAIM_HELD)
    luaL_error(L, "zklock: this share has not been granted");
  return share;
}

int binding_new_share(lua_State *L) {
  binding_new_object(L, &share_type, sizeof(struct share));
  return 1;
}

struct share *binding_empty_share(lua_State *L, int index) {
  if (lua_isnoneornil(L, index)) {
    binding_new_share(L);
    return lua_touserdata(L, -1);
  }
  struct share *share = binding_check_object(L, index, &share_type);
  luaL_argcheck(L, !share->core && !share->dead, index, "not empty");
  lua_pushvalue(L, index);
  return share;
}

void binding_fill_share(struct share *share, struct core *core,
                        struct claim *claim) {
  core_keep(core);
  share->core = core;
  share->claim = claim;
  share->live = true;
  claim->shares++;
}

/* share:again([empty]) → another share of the same hold */
static int share_again(lua_State *L) {
  struct share *share = binding_check_share(L, 1);
  binding_check_process(L, share->core);
  struct share *copy = binding_empty_share(L, 2);
  claim_keep(share->claim);
  binding_fill_share(copy, share->core, share->claim);
  return 1;
}

/* Gives a share back; the last one ends the hold.  False: it was lost. */
static bool give_back(struct share *share, bool report) {
  share->live = false;
  bool last = --share->claim->shares == 0;
  if (claim_state(share->claim) == CLAIM_WAITING) {
    core_abandon(share->core, share->claim);
    return true;
  }
  if (last) return core_release(share->core, share->claim, report);
  return !claim_loss(share->claim);
}

/* share:release(report, tells) → true, or false: lost, by the clock, too; then:
 * was it the last share; and the number of the first local turn that is to be told
 * of (session:turn), which the caller sees to if it `tells`.  Idempotent: once
 * more it says the same. */
static int share_release(lua_State *L) {
  struct share *share = binding_check_object(L, 1, &share_type);
  if (share->core) binding_check_process(L, share->core);
  if (share->live) {
    core_find_loss(share->core, share->claim);
    share->kept = give_back(share, lua_toboolean(L, 2));
    share->last = share->claim->shares == 0;
  }
  bool turns = share->core && core_has_turns(share->core);
  if (turns && !lua_toboolean(L, 3)) core_nudge(share->core);
  lua_pushboolean(L, share->kept);
  lua_pushboolean(L, share->last);
  if (!turns) return 2;
  lua_pushnumber(L, (lua_Number)share->core->turns.untold->number);
  return 3;
}

static int share_cancel(lua_State *L) {
  struct share *share = binding_check_share(L, 1);
  binding_check_process(L, share->core);
  core_cancel(share->core, share->claim);
  return 0;
}

static int share_gc(lua_State *L) {
  struct share *share = binding_test_object(L, 1, &share_type);
  if (share) share->dead = true;
  if (!share || !share->core || share->core->owner != process_id()) return 0;
  struct claim *claim = share->claim;
  if (share->live) {
    bool held = claim_state(claim) == CLAIM_HELD;
    give_back(share, false);
    if (core_has_turns(share->core)) core_nudge(share->core);
    if (held && claim->shares == 0 && !share->core->closed) {
      char text[PATH_MAX_BYTES + 120];
      snprintf(text, sizeof text,
               "a guard of %.*s was collected without release, which ends its "
               "hold: keep the guard, and release it",
               (int)(claim->length - claim->prefix),
               claim->path + claim->prefix);
      log_say(&share->core->log, "warn", text);
    }
  }
  claim_drop(claim);
  core_forget(share->core);
  share->core = NULL;
  return 0;
}

static bool is_usable(const struct share *share) {
  return share->live && !share->core->closed &&
         share->core->owner == process_id();
}

static int share_is_held(lua_State *L) {
  const struct share *share = binding_check_share(L, 1);
  lua_pushboolean(L, is_usable(share) && claim_is_held(share->claim));
  return 1;
}

static int share_lease(lua_State *L) {
  const struct share *share = binding_check_share(L, 1);
  int64_t lease = is_usable(share) ? claim_lease(share->claim) : 0;
  lua_pushnumber(L,
                 lease == NEVER ? HUGE_VAL : (lua_Number)lease / NANOSECONDS);
  return 1;
}

/* share:state() → "waiting", "refused", "held", "suspended", "released",
 * "lost" */
static int share_state(lua_State *L) {
  static const char *const names[] = {"waiting", "refused", "held", "released"};
  const struct share *share = binding_check_share(L, 1);
  binding_check_process(L, share->core);
  int state = claim_state(share->claim);
  if (state == CLAIM_HELD && (!share->live || share->core->closed))
    state = CLAIM_RELEASED;
  /* Suspended at the first doubt: no server, or no proof by our own clock. */
  if (state == CLAIM_HELD && (share->core->proof.state != SESSION_CONNECTED ||
                              !claim_is_held(share->claim)))
    lua_pushliteral(L, "suspended");
  else
    lua_pushstring(L, claim_loss(share->claim) ? "lost" : names[state]);
  return 1;
}

/* share:reason() → why it was lost, as far as has been said */
static int share_reason(lua_State *L) {
  const struct share *share = binding_check_share(L, 1);
  binding_check_process(L, share->core);
  lua_pushstring(L, contender_loss_name(claim_loss(share->claim)));
  return 1;
}

/* share:find_loss() → the same, and now it is said */
static int share_find_loss(lua_State *L) {
  const struct share *share = binding_check_share(L, 1);
  binding_check_process(L, share->core);
  lua_pushstring(L, contender_loss_name(
                        core_find_loss(share->core, share->claim)));
  return 1;
}

static struct claim *granted_claim(lua_State *L) {
  return binding_check_granted(L, 1)->claim;
}

static int share_token(lua_State *L) {
  const struct claim *claim = granted_claim(L);
  char text[24];
  snprintf(text, sizeof text, "%019lld", (long long)claim->token);
  lua_pushstring(L, text);
  return 1;
}

static int share_token_number(lua_State *L) {
  const struct claim *claim = granted_claim(L);
#if LUA_VERSION_NUM >= 503
  lua_pushinteger(L, (lua_Integer)claim->token);
#else
  if (claim->token > INT64_C(9007199254740991))
    return luaL_error(L,
                      "zklock: the token %019lld is not exact as a number "
                      "of this Lua: use token()",
                      (long long)claim->token);
  lua_pushnumber(L, (lua_Number)claim->token);
#endif
  return 1;
}

/* share:node() → its path, without the chroot */
static int share_node(lua_State *L) {
  struct claim *claim = granted_claim(L);
  lua_pushfstring(L, "%s/%s", claim->path + claim->prefix, claim_node(claim));
  return 1;
}

/* share:number() → what events call the hold */
static int share_number(lua_State *L) {
  const struct share *share = binding_check_share(L, 1);
  lua_pushnumber(L, (lua_Number)share->claim->number);
  return 1;
}

static int push_seconds(lua_State *L, int64_t duration) {
  lua_pushnumber(L, (lua_Number)duration / NANOSECONDS);
  return 1;
}

/* share:take() → for how long it was waited for: its user has it from now on */
static int share_take(lua_State *L) {
  struct claim *claim = granted_claim(L);
  claim->taken = clock_now();
  return push_seconds(L, claim->taken - claim->asked);
}

/* share:waited() → since when it has been asked for, in seconds from now */
static int share_waited(lua_State *L) {
  const struct share *share = binding_check_share(L, 1);
  return push_seconds(L, clock_now() - share->claim->asked);
}

/* share:held() → since when its user has had it, in seconds from now; and what
 * it is, as `contenders` says it */
static int share_held(lua_State *L) {
  /* (In the order of enum kind: rule.h.) */
  static const char *const modes[] = {"mutex", "read",   "write",
                                      "lease", "unfair", "member"};
  const struct claim *claim = granted_claim(L);
  push_seconds(L, clock_now() - claim->taken);
  lua_pushstring(L, modes[claim->contender.options.kind]);
  return 2;
}

/* share:watch(): hear soon of what is done to our node.  (Only a claim that was
 * granted has one; and until then the message may be needed to begin it.) */
static int share_watch(lua_State *L) {
  struct share *share = binding_check_share(L, 1);
  binding_check_process(L, share->core);
  if (!share->core->closed && claim_state(share->claim) == CLAIM_HELD)
    core_watch(share->core, share->claim);
  return 0;
}

static int share_turn(lua_State *L) {
  lua_pushinteger(L, granted_claim(L)->turn);
  return 1;
}

void binding_register_share(lua_State *L) {
  static const luaL_Reg methods[] = {
      {"again", share_again},         {"release", share_release},
      {"cancel", share_cancel},       {"is_held", share_is_held},
      {"lease", share_lease},         {"state", share_state},
      {"token", share_token},         {"token_number", share_token_number},
      {"node", share_node},           {"number", share_number},
      {"watch", share_watch},         {"turn", share_turn},
      {"take", share_take},           {"waited", share_waited},
      {"held", share_held},           {"reason", share_reason},
      {"find_loss", share_find_loss}, {NULL, NULL}};
  binding_new_type(L, &share_type, methods, share_gc);
}
