/* The userdata behind a guard: a share of a hold. */
#include "lua_share.h"

#include <math.h>
#include <stdio.h>

#include "io/clock.h"
#include "io/process.h"

static const struct object_type share_type = {"zklock.hold"};

struct share *binding_check_share(lua_State *L, int index) {
  struct share *share = binding_check_object(L, index, &share_type);
  if (!share->claim) luaL_error(L, "zklock: this share is empty");
  return share;
}

struct share *binding_check_granted(lua_State *L, int index) {
  struct share *share = binding_check_share(L, index);
  if (claim_said(share->claim) < CLAIM_HELD)
    luaL_error(L, "zklock: this share has not been granted");
  return share;
}

int binding_new_share(lua_State *L) {
  binding_new_object(L, &share_type, sizeof(struct share));
  return 1;
}

static bool stands_in_line(const struct share *share) {
  return share->core && share->live && !share->claim;
}

struct share *binding_vacant_share(lua_State *L, int index) {
  if (lua_isnoneornil(L, index)) {
    binding_new_share(L);
    return lua_touserdata(L, -1);
  }
  struct share *share = binding_check_object(L, index, &share_type);
  luaL_argcheck(L, (!share->core || stands_in_line(share)) && !share->dead,
                index, "not empty");
  lua_pushvalue(L, index);
  return share;
}

void binding_stand_share(struct share *share, struct core *core,
                         int64_t deadline) {
  core_keep(core);
  core_stand(core, &share->turn, deadline);
  core->standing++;
  share->core = core;
  share->live = true;
}

static void step_out(const struct share *share) { share->core->standing--; }

void binding_fill_share(struct share *share, struct core *core,
                        struct claim *claim) {
  if (stands_in_line(share))
    step_out(share);
  else
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
  struct share *copy = binding_vacant_share(L, 2);
  luaL_argcheck(L, !copy->core, 2, "not empty");
  claim_keep(share->claim);
  copy->turn = share->turn;
  binding_fill_share(copy, share->core, share->claim);
  return 1;
}

/* Releases a share. The last share passes the hold to `next`, if there is one
 * and that is possible, or ends the hold. Returns false if the hold was
 * lost. */
static bool give_back(struct share *share, bool report, struct share *next) {
  struct claim *claim = share->claim;
  share->live = false;
  share->last = --claim->shares == 0;
  if (claim_said(claim) == CLAIM_WAITING) {
    core_abandon(share->core, claim);
    return true;
  }
  if (!share->last) return !claim_loss(claim, share->turn.index);
  share->passed =
      next && core_pass_on(share->core, claim, &share->turn, &next->turn);
  if (!share->passed) return core_release(share->core, claim, report);
  claim_keep(claim);
  binding_fill_share(next, share->core, claim);
  return true;
}

/* Returns the share at `index` if it waits in a local queue of this session, or
 * NULL. */
static struct share *next_share(lua_State *L, int index,
                                const struct core *core) {
  if (lua_isnoneornil(L, index)) return NULL;
  struct share *next = binding_check_object(L, index, &share_type);
  return stands_in_line(next) && next->core == core ? next : NULL;
}

/* share:release([report [, next]]) → kept, last, passed
 *
 * `kept` is false if the hold was lost, also by the local clock. `last`: this
 * was the last share. `passed`: the waiting share `next` has the lock now.
 * `report`: unless it was passed on, post "gone" when the node is deleted.
 * Idempotent: returns the same again. */
static int share_release(lua_State *L) {
  struct share *share = binding_check_object(L, 1, &share_type);
  if (share->core) binding_check_process(L, share->core);
  if (stands_in_line(share)) {
    step_out(share);
    share->live = false;
    share->kept = true;
  } else if (share->live) {
    struct share *next = next_share(L, 3, share->core);
    core_find_loss(share->core, share->claim, share->turn.index);
    share->kept = give_back(share, lua_toboolean(L, 2), next);
  }
  lua_pushboolean(L, share->kept);
  lua_pushboolean(L, share->last);
  lua_pushboolean(L, share->passed);
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
  if (stands_in_line(share)) {
    step_out(share);
  } else if (share->live) {
    bool held = claim_said(claim) == CLAIM_HELD;
    /* With local_turns, "gone" tells its local waiters about the end. */
    give_back(share, claim->contender.options.local_turns > 0, NULL);
    if (held && share->last && !share->core->closed) {
      char text[PATH_MAX_BYTES + 120];
      snprintf(text, sizeof text,
               "a guard of %.*s was collected without release, which ends its "
               "hold: keep the guard, and release it",
               (int)(claim->length - claim->prefix),
               claim->path + claim->prefix);
      log_say(&share->core->log, "warn", text);
    }
  }
  if (claim) claim_drop(claim);
  core_forget(share->core);
  share->core = NULL;
  share->claim = NULL;
  share->live = false;
  return 0;
}

static bool is_usable(const struct share *share) {
  return share->live && !share->core->closed &&
         share->core->owner == process_id();
}

static int share_is_held(lua_State *L) {
  const struct share *share = binding_check_share(L, 1);
  lua_pushboolean(L, is_usable(share) &&
                         claim_is_held(share->claim, share->turn.index));
  return 1;
}

static int share_lease(lua_State *L) {
  const struct share *share = binding_check_share(L, 1);
  int64_t lease =
      is_usable(share) ? claim_lease(share->claim, share->turn.index) : 0;
  lua_pushnumber(L,
                 lease == NEVER ? HUGE_VAL : (lua_Number)lease / NANOSECONDS);
  return 1;
}

/* share:state() → "waiting", "refused", "held", "suspended", "released" or
 * "lost" */
static int share_state(lua_State *L) {
  static const char *const names[] = {"waiting", "refused", "held", "released"};
  const struct share *share = binding_check_share(L, 1);
  binding_check_process(L, share->core);
  int turn = share->turn.index;
  int state = claim_state(share->claim, turn);
  if (state == CLAIM_HELD && (!share->live || share->core->closed))
    state = CLAIM_RELEASED;
  /* Returns "suspended" at the first doubt: no connection, or no valid lease by
   * the local clock. */
  if (state == CLAIM_HELD && (share->core->proof.state != SESSION_CONNECTED ||
                              !claim_is_held(share->claim, turn)))
    lua_pushliteral(L, "suspended");
  else
    lua_pushstring(L, claim_loss(share->claim, turn) ? "lost" : names[state]);
  return 1;
}

/* share:reason() → why the hold was lost, if the loss was reported */
static int share_reason(lua_State *L) {
  const struct share *share = binding_check_share(L, 1);
  binding_check_process(L, share->core);
  lua_pushstring(L, contender_loss_name(
                        claim_loss(share->claim, share->turn.index)));
  return 1;
}

/* share:find_loss() → why the hold is lost; reports a loss by the local
 * clock */
static int share_find_loss(lua_State *L) {
  const struct share *share = binding_check_share(L, 1);
  binding_check_process(L, share->core);
  lua_pushstring(L,
                 contender_loss_name(core_find_loss(share->core, share->claim,
                                                    share->turn.index)));
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

/* share:node() → the node's path, without the chroot */
static int share_node(lua_State *L) {
  struct claim *claim = granted_claim(L);
  lua_pushfstring(L, "%s/%s", claim->path + claim->prefix, claim_node(claim));
  return 1;
}

/* Returns a share that waits in a local queue or has a claim. */
static struct share *asking_share(lua_State *L) {
  struct share *share = binding_check_object(L, 1, &share_type);
  if (!share->core) luaL_error(L, "zklock: this share is empty");
  return share;
}

/* share:number() → the number of its hold or wait in events */
static int share_number(lua_State *L) {
  lua_pushnumber(L, (lua_Number)asking_share(L)->turn.number);
  return 1;
}

/* share:root() → the number of the first turn of its hold; nothing if it waits
 * in a local queue */
static int share_root(lua_State *L) {
  const struct share *share = asking_share(L);
  if (!share->claim) return 0;
  lua_pushnumber(L, (lua_Number)share->claim->number);
  return 1;
}

/* share:is_overdue() → whether its deadline has passed; if not, "alarm" reports
 * when it passes */
static int share_is_overdue(lua_State *L) {
  const struct share *share = asking_share(L);
  binding_check_process(L, share->core);
  bool overdue = share->turn.deadline <= clock_now();
  if (!overdue) core_call_at(share->core, share->turn.deadline);
  lua_pushboolean(L, overdue);
  return 1;
}

static int push_seconds(lua_State *L, int64_t duration) {
  lua_pushnumber(L, (lua_Number)duration / NANOSECONDS);
  return 1;
}

/* share:take() → how long the user has waited for it. The hold time starts
 * now. */
static int share_take(lua_State *L) {
  struct turn *turn = &binding_check_granted(L, 1)->turn;
  turn->taken = clock_now();
  return push_seconds(L, turn->taken - turn->asked);
}

/* share:waited() → seconds since it was requested */
static int share_waited(lua_State *L) {
  return push_seconds(L, clock_now() - asking_share(L)->turn.asked);
}

/* share:held() → seconds since its user got it, and its mode, as `contenders`
 * returns it */
static int share_held(lua_State *L) {
  /* In the order of enum kind: rule.h. */
  static const char *const modes[] = {"mutex",  "read",   "write",
                                      "permit", "unfair", "member"};
  const struct share *share = binding_check_granted(L, 1);
  push_seconds(L, clock_now() - share->turn.taken);
  lua_pushstring(L, modes[share->claim->contender.options.kind]);
  return 2;
}

/* share:watch(): watches the hold's node soon. Only a granted claim has a node,
 * and before the grant the message may still be in use. */
static int share_watch(lua_State *L) {
  struct share *share = binding_check_share(L, 1);
  binding_check_process(L, share->core);
  if (!share->core->closed && claim_said(share->claim) == CLAIM_HELD)
    core_watch(share->core, share->claim);
  return 0;
}

static int share_turn(lua_State *L) {
  lua_pushinteger(L, binding_check_granted(L, 1)->turn.index);
  return 1;
}

void binding_register_share(lua_State *L) {
  static const luaL_Reg methods[] = {{"again", share_again},
                                     {"release", share_release},
                                     {"cancel", share_cancel},
                                     {"is_held", share_is_held},
                                     {"lease", share_lease},
                                     {"state", share_state},
                                     {"token", share_token},
                                     {"token_number", share_token_number},
                                     {"node", share_node},
                                     {"number", share_number},
                                     {"watch", share_watch},
                                     {"turn", share_turn},
                                     {"take", share_take},
                                     {"waited", share_waited},
                                     {"held", share_held},
                                     {"reason", share_reason},
                                     {"find_loss", share_find_loss},
                                     {"root", share_root},
                                     {"is_overdue", share_is_overdue},
                                     {NULL, NULL}};
  binding_new_type(L, &share_type, methods, share_gc);
}
