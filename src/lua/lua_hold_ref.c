/* Implements hold references, the userdata by which guards refer to their
 * hold. */
#include "lua_hold_ref.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/clock.h"
#include "io/process.h"

static const struct object_type hold_ref_type = {"zklock.hold"};

struct hold_ref *binding_check_hold_ref(lua_State *L, int index) {
  struct hold_ref *hold_ref = binding_check_object(L, index, &hold_ref_type);
  if (!hold_ref->acquisition)
    luaL_error(L, "zklock: this hold reference is empty");
  return hold_ref;
}

/* Returns the hold reference at index 1, as binding_check_hold_ref does. Raises
 * an error if its session belongs to another process. */
static struct hold_ref *own_hold_ref(lua_State *L) {
  struct hold_ref *hold_ref = binding_check_hold_ref(L, 1);
  binding_check_process(L, hold_ref->core);
  return hold_ref;
}

struct hold_ref *binding_check_granted(lua_State *L, int index) {
  struct hold_ref *hold_ref = binding_check_hold_ref(L, index);
  if (acquisition_outcome(hold_ref->acquisition) < ACQUISITION_HELD)
    luaL_error(L, "zklock: this hold reference has not been granted");
  return hold_ref;
}

int binding_new_hold_ref(lua_State *L) {
  binding_new_object(L, &hold_ref_type, sizeof(struct hold_ref));
  return 1;
}

static bool waits_locally(const struct hold_ref *hold_ref) {
  return hold_ref->core && hold_ref->live && !hold_ref->acquisition;
}

struct hold_ref *binding_vacant_hold_ref(lua_State *L, int index) {
  if (lua_isnoneornil(L, index)) {
    binding_new_hold_ref(L);
    return lua_touserdata(L, -1);
  }
  struct hold_ref *hold_ref = binding_check_object(L, index, &hold_ref_type);
  luaL_argcheck(L,
                (!hold_ref->core || waits_locally(hold_ref)) && !hold_ref->dead,
                index, "not empty");
  lua_pushvalue(L, index);
  return hold_ref;
}

void binding_begin_local_wait(struct hold_ref *hold_ref, struct core *core,
                              int64_t deadline) {
  core_keep(core);
  core_begin_local_wait(core, &hold_ref->turn, deadline);
  core->local_waiters++;
  hold_ref->core = core;
  hold_ref->live = true;
}

static void stop_local_wait(const struct hold_ref *hold_ref) {
  hold_ref->core->local_waiters--;
}

void binding_fill_hold_ref(struct hold_ref *hold_ref, struct core *core,
                           struct acquisition *acquisition) {
  if (waits_locally(hold_ref))
    stop_local_wait(hold_ref);
  else
    core_keep(core);
  hold_ref->core = core;
  hold_ref->acquisition = acquisition;
  hold_ref->live = true;
  acquisition->hold_refs++;
}

/* hold_ref:again([empty]) → another reference to the same hold
 *
 * Uses `empty`, an empty hold reference, for it, if that is given. */
static int hold_ref_again(lua_State *L) {
  struct hold_ref *hold_ref = own_hold_ref(L);
  struct hold_ref *copy = binding_vacant_hold_ref(L, 2);
  luaL_argcheck(L, !copy->core, 2, "not empty");
  subject_keep(&hold_ref->acquisition->subject);
  copy->turn = hold_ref->turn;
  binding_fill_hold_ref(copy, hold_ref->core, hold_ref->acquisition);
  return 1;
}

/* Releases a hold reference. If it was the hold's last reference, passes the
 * hold to `next`; if that is not possible, releases the hold. `report`: the
 * event "gone" follows the release of the hold. Returns false if the hold was
 * lost. */
static bool give_back(struct hold_ref *hold_ref, bool report,
                      struct hold_ref *next) {
  struct acquisition *acquisition = hold_ref->acquisition;
  hold_ref->live = false;
  hold_ref->last = --acquisition->hold_refs == 0;
  if (acquisition_outcome(acquisition) == ACQUISITION_WAITING) {
    core_abandon(hold_ref->core, acquisition);
    return true;
  }
  if (!hold_ref->last)
    return !acquisition_loss(acquisition, hold_ref->turn.index);
  hold_ref->passed = next && core_pass_on(hold_ref->core, acquisition,
                                          &hold_ref->turn, &next->turn);
  if (!hold_ref->passed)
    return core_release(hold_ref->core, acquisition, report);
  subject_keep(&acquisition->subject);
  binding_fill_hold_ref(next, hold_ref->core, acquisition);
  return true;
}

/* Returns the hold reference at `index` if it waits in a local queue of `core`.
 * Otherwise, or if the argument is nil, returns NULL. */
static struct hold_ref *next_hold_ref(lua_State *L, int index,
                                      const struct core *core) {
  if (lua_isnoneornil(L, index)) return NULL;
  struct hold_ref *next = binding_check_object(L, index, &hold_ref_type);
  return waits_locally(next) && next->core == core ? next : NULL;
}

/* hold_ref:release([report [, next]]) → kept, last, passed
 *
 * Releases the hold reference. If it was the hold's last reference, passes the
 * hold to `next`, which must wait in a local queue. If that is not possible,
 * releases the hold. Then, with `report`, the event "gone" follows when the
 * node is deleted.
 *
 * `kept` is false if the hold was lost, even if only the local clock shows the
 * loss. `last`: this was the hold's last reference. `passed`: the hold was
 * passed to `next`. A second call changes nothing and returns the same
 * values. */
static int hold_ref_release(lua_State *L) {
  struct hold_ref *hold_ref = binding_check_object(L, 1, &hold_ref_type);
  if (hold_ref->core) binding_check_process(L, hold_ref->core);
  if (waits_locally(hold_ref)) {
    stop_local_wait(hold_ref);
    hold_ref->live = false;
    hold_ref->kept = true;
  } else if (hold_ref->live) {
    struct hold_ref *next = next_hold_ref(L, 3, hold_ref->core);
    core_find_loss(hold_ref->core, hold_ref->acquisition, hold_ref->turn.index);
    hold_ref->kept = give_back(hold_ref, lua_toboolean(L, 2), next);
  }
  lua_pushboolean(L, hold_ref->kept);
  lua_pushboolean(L, hold_ref->last);
  lua_pushboolean(L, hold_ref->passed);
  return 3;
}

static int hold_ref_cancel(lua_State *L) {
  struct hold_ref *hold_ref = own_hold_ref(L);
  core_cancel(hold_ref->core, hold_ref->acquisition);
  return 0;
}

static int hold_ref_gc(lua_State *L) {
  struct hold_ref *hold_ref = binding_test_object(L, 1, &hold_ref_type);
  if (hold_ref) hold_ref->dead = true;
  if (!hold_ref || !hold_ref->core || hold_ref->core->owner != process_id())
    return 0;
  struct acquisition *acquisition = hold_ref->acquisition;
  if (waits_locally(hold_ref)) {
    stop_local_wait(hold_ref);
  } else if (hold_ref->live) {
    bool held = acquisition_outcome(acquisition) == ACQUISITION_HELD;
    /* If the lock can have local waiters (local_turns), requests the event
     * "gone". It tells the Lua layer that the hold has ended. */
    give_back(hold_ref, acquisition->contender.options.local_turns > 0, NULL);
    if (held && hold_ref->last && !hold_ref->core->closed) {
      char text[PATH_MAX_BYTES + 120];
      snprintf(text, sizeof text,
               "a guard of %.*s was collected without release, which ends its "
               "hold: keep the guard, and release it",
               (int)(acquisition->length - acquisition->prefix),
               acquisition->path + acquisition->prefix);
      log_write(&hold_ref->core->log, "warn", text);
    }
  }
  if (acquisition) subject_drop(&acquisition->subject);
  core_drop(hold_ref->core);
  hold_ref->core = NULL;
  hold_ref->acquisition = NULL;
  hold_ref->live = false;
  return 0;
}

static bool is_usable(const struct hold_ref *hold_ref) {
  return hold_ref->live && !hold_ref->core->closed &&
         hold_ref->core->owner == process_id();
}

static int hold_ref_is_held(lua_State *L) {
  const struct hold_ref *hold_ref = binding_check_hold_ref(L, 1);
  lua_pushboolean(L, is_usable(hold_ref) &&
                         acquisition_is_held(hold_ref->acquisition,
                                             hold_ref->turn.index));
  return 1;
}

static int hold_ref_lease(lua_State *L) {
  const struct hold_ref *hold_ref = binding_check_hold_ref(L, 1);
  int64_t lease = is_usable(hold_ref) ? acquisition_lease(hold_ref->acquisition,
                                                          hold_ref->turn.index)
                                      : 0;
  lua_pushnumber(L,
                 lease == NEVER ? HUGE_VAL : (lua_Number)lease / NANOSECONDS);
  return 1;
}

/* hold_ref:state() → the state of the reference's turn
 *
 * The states are "waiting", "refused", "held", "suspended", "released" and
 * "lost". */
static int hold_ref_state(lua_State *L) {
  static const char *const names[] = {"waiting", "refused", "held", "released"};
  const struct hold_ref *hold_ref = own_hold_ref(L);
  int turn = hold_ref->turn.index;
  int state = acquisition_state(hold_ref->acquisition, turn);
  /* A later loss of the hold does not concern a reference that was released. */
  if (hold_ref->kept || (state == ACQUISITION_HELD && hold_ref->core->closed))
    state = ACQUISITION_RELEASED;
  /* A hold counts as "suspended" while there is no connection, or while the
   * local clock shows no valid lease. */
  if (state == ACQUISITION_HELD &&
      (hold_ref->core->proof.state != SESSION_CONNECTED ||
       !acquisition_is_held(hold_ref->acquisition, turn)))
    lua_pushliteral(L, "suspended");
  else
    lua_pushstring(L, state >= ACQUISITION_LOST ? "lost" : names[state]);
  return 1;
}

/* hold_ref:reason() → why the hold was lost, such as "node_deleted"; or nil
 *
 * Returns only a loss that is already recorded. hold_ref:find_loss also checks
 * the local clock. */
static int hold_ref_reason(lua_State *L) {
  const struct hold_ref *hold_ref = own_hold_ref(L);
  lua_pushstring(L,
                 contender_loss_name(acquisition_loss(hold_ref->acquisition,
                                                      hold_ref->turn.index)));
  return 1;
}

/* hold_ref:find_loss() → why the hold is lost, or nil
 *
 * Also checks the local clock. If only the clock shows the loss, records the
 * loss. */
static int hold_ref_find_loss(lua_State *L) {
  const struct hold_ref *hold_ref = own_hold_ref(L);
  lua_pushstring(L, contender_loss_name(core_find_loss(hold_ref->core,
                                                       hold_ref->acquisition,
                                                       hold_ref->turn.index)));
  return 1;
}

/* hold_ref:compare(token|nil) → nothing
 *
 * `token`: the token of the node at hold_ref:node(), as a server has just
 * answered; nil: the node is missing. Unless this hold has created the node,
 * records the loss "node_deleted". Otherwise another session has created it, or
 * another hold of the same unfair lock. */
static int hold_ref_compare(lua_State *L) {
  const char *token = luaL_optstring(L, 2, "0");
  const struct hold_ref *hold_ref = binding_check_granted(L, 1);
  struct acquisition *acquisition = hold_ref->acquisition;
  binding_check_process(L, hold_ref->core);
  if (strtoll(token, NULL, 10) != acquisition->czxid)
    core_lose(hold_ref->core, acquisition, LOSS_NODE_DELETED);
  return 0;
}

static int hold_ref_token(lua_State *L) {
  const struct acquisition *acquisition =
      binding_check_granted(L, 1)->acquisition;
  char text[24];
  snprintf(text, sizeof text, "%019lld", (long long)acquisition->token);
  lua_pushstring(L, text);
  return 1;
}

static int hold_ref_token_number(lua_State *L) {
  const struct acquisition *acquisition =
      binding_check_granted(L, 1)->acquisition;
#if LUA_VERSION_NUM >= 503
  lua_pushinteger(L, (lua_Integer)acquisition->token);
#else
  if (acquisition->token > INT64_C(9007199254740991))
    return luaL_error(L,
                      "zklock: the token %019lld is not exact as a number "
                      "of this Lua: use token()",
                      (long long)acquisition->token);
  lua_pushnumber(L, (lua_Number)acquisition->token);
#endif
  return 1;
}

/* hold_ref:node() → the path of the hold's node, without the chroot */
static int hold_ref_node(lua_State *L) {
  struct acquisition *acquisition = binding_check_granted(L, 1)->acquisition;
  lua_pushfstring(L, "%s/%s", acquisition->path + acquisition->prefix,
                  acquisition_node(acquisition));
  return 1;
}

/* Returns the hold reference at index 1. Raises an error if it is empty: it has
 * no acquisition, and does not wait in a local queue. */
static struct hold_ref *used_hold_ref(lua_State *L) {
  struct hold_ref *hold_ref = binding_check_object(L, 1, &hold_ref_type);
  if (!hold_ref->core) luaL_error(L, "zklock: this hold reference is empty");
  return hold_ref;
}

/* hold_ref:number() → the number that identifies this reference's turn in
 * events
 *
 * Before the turn begins, the number identifies the reference's wait. */
static int hold_ref_number(lua_State *L) {
  lua_pushnumber(L, (lua_Number)used_hold_ref(L)->turn.number);
  return 1;
}

/* hold_ref:root() → the number of the first turn of the reference's hold;
 * nothing if the reference waits in a local queue */
static int hold_ref_root(lua_State *L) {
  const struct hold_ref *hold_ref = used_hold_ref(L);
  if (!hold_ref->acquisition) return 0;
  lua_pushnumber(L, (lua_Number)hold_ref->acquisition->number);
  return 1;
}

/* hold_ref:is_overdue() → whether the deadline of the reference's wait has
 * passed
 *
 * If it has not passed, requests the event "alarm" for that time. */
static int hold_ref_is_overdue(lua_State *L) {
  const struct hold_ref *hold_ref = used_hold_ref(L);
  binding_check_process(L, hold_ref->core);
  bool overdue = hold_ref->turn.deadline <= clock_now();
  if (!overdue) core_set_alarm(hold_ref->core, hold_ref->turn.deadline);
  lua_pushboolean(L, overdue);
  return 1;
}

static int push_seconds(lua_State *L, int64_t duration) {
  lua_pushnumber(L, (lua_Number)duration / NANOSECONDS);
  return 1;
}

/* hold_ref:take() → how many seconds the user has waited for the hold
 *
 * The time that hold_ref:held returns begins with this call. */
static int hold_ref_take(lua_State *L) {
  struct turn *turn = &binding_check_granted(L, 1)->turn;
  turn->held_since = clock_now();
  return push_seconds(L, turn->held_since - turn->waiting_since);
}

/* hold_ref:waited() → the number of seconds since the user requested the
 * hold */
static int hold_ref_waited(lua_State *L) {
  return push_seconds(L, clock_now() - used_hold_ref(L)->turn.waiting_since);
}

/* hold_ref:held() → the number of seconds since hold_ref:take, and the hold's
 * mode
 *
 * The mode is a word such as "mutex", the same as in contenders(). */
static int hold_ref_held(lua_State *L) {
  /* The names of the modes, in the order of enum kind (rule.h). */
  static const char *const modes[] = {"mutex",  "read",   "write",
                                      "permit", "unfair", "member"};
  const struct hold_ref *hold_ref = binding_check_granted(L, 1);
  push_seconds(L, clock_now() - hold_ref->turn.held_since);
  lua_pushstring(L, modes[hold_ref->acquisition->contender.options.kind]);
  return 2;
}

/* hold_ref:watch() → nothing
 *
 * Makes the I/O thread watch the hold's node from now on. Does nothing before
 * the grant, because then there may be no node. Besides, this command uses the
 * same message struct as the command to acquire, which can still be queued. */
static int hold_ref_watch(lua_State *L) {
  struct hold_ref *hold_ref = own_hold_ref(L);
  if (!hold_ref->core->closed &&
      acquisition_outcome(hold_ref->acquisition) == ACQUISITION_HELD)
    core_watch(hold_ref->core, hold_ref->acquisition);
  return 0;
}

static int hold_ref_turn(lua_State *L) {
  lua_pushinteger(L, binding_check_granted(L, 1)->turn.index);
  return 1;
}

void binding_register_hold_ref(lua_State *L) {
  static const luaL_Reg methods[] = {{"again", hold_ref_again},
                                     {"release", hold_ref_release},
                                     {"cancel", hold_ref_cancel},
                                     {"is_held", hold_ref_is_held},
                                     {"lease", hold_ref_lease},
                                     {"state", hold_ref_state},
                                     {"token", hold_ref_token},
                                     {"token_number", hold_ref_token_number},
                                     {"node", hold_ref_node},
                                     {"number", hold_ref_number},
                                     {"watch", hold_ref_watch},
                                     {"turn", hold_ref_turn},
                                     {"take", hold_ref_take},
                                     {"waited", hold_ref_waited},
                                     {"held", hold_ref_held},
                                     {"reason", hold_ref_reason},
                                     {"find_loss", hold_ref_find_loss},
                                     {"compare", hold_ref_compare},
                                     {"root", hold_ref_root},
                                     {"is_overdue", hold_ref_is_overdue},
                                     {NULL, NULL}};
  binding_new_type(L, &hold_ref_type, methods, hold_ref_gc);
}
