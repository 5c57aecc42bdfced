#include "lua_links.h"

#include <string.h>

#include "lua_world.h"
#include "operator.h"
#include "schedule.h"

enum { SERVERS = 9, KINDS = 8 };

static struct zk_link *check_link(lua_State *L, int index) {
  return link_find(lua_check_ensemble(L, index), lua_tostring(L, index));
}

/* link_new(address, to, servers): adds a link with the address `address` to
 * servers of one ensemble. `to`: an address of this ensemble. `servers`: a list
 * of the servers' numbers, from 0. Returns false if the address is taken. */
static int new (lua_State *L) {
  int servers[SERVERS], count = 0;
  const char *address = luaL_checkstring(L, 1);
  struct ensemble *ensemble = lua_check_ensemble(L, 2);
  luaL_checktype(L, 3, LUA_TTABLE);
  for (; count < SERVERS; count++) {
    lua_rawgeti(L, 3, count + 1);
    if (lua_isnil(L, -1)) break;
    servers[count] = (int)lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
  lua_pushboolean(L, link_new(ensemble, address, servers, count) != NULL);
  return 1;
}

typedef void fault(struct zk_link *link, int64_t now);

static int with_fault(lua_State *L, fault *f) {
  f(check_link(L, 1), schedule_now());
  return 0;
}

static int cut(lua_State *L) { return with_fault(L, link_cut); }
static int half_open(lua_State *L) { return with_fault(L, link_half_open); }
static int refuse(lua_State *L) { return with_fault(L, link_refuse); }
static int freeze(lua_State *L) { return with_fault(L, link_freeze); }
static int mute_events(lua_State *L) { return with_fault(L, link_mute_events); }
static int heal(lua_State *L) { return with_fault(L, link_heal); }

/* link_delay(address, seconds): delays each message on this link by this
 * time. */
static int delay(lua_State *L) {
  link_delay(check_link(L, 1), schedule_now(),
             (int64_t)(luaL_checknumber(L, 2) * 1e9));
  return 0;
}

/* link_drop(address, "requests" | "replies"): drops all messages to the servers
 * ("requests"), or all messages to the clients ("replies"). */
static int drop(lua_State *L) {
  bool requests = strcmp(luaL_checkstring(L, 2), "requests") == 0;
  return with_fault(L, requests ? link_drop_requests : link_drop_replies);
}

static int64_t field(lua_State *L, const char *name) {
  lua_getfield(L, 2, name);
  int64_t value = lua_isboolean(L, -1) ? lua_toboolean(L, -1)
                                       : (int64_t)luaL_optnumber(L, -1, 0);
  lua_pop(L, 1);
  return value;
}

/* link_behave(address, manners): sets how a link's servers misbehave. The table
 * `manners` has the fields of struct zk_misbehaviour. Its `treatment` is "cut",
 * "mute" or "refuse". Times are in nanoseconds. */
static int behave(lua_State *L) {
  static const char *const treatments[] = {"cut", "mute", "refuse", NULL};
  struct zk_misbehaviour misbehaviour = {0};
  luaL_checktype(L, 2, LUA_TTABLE);
#define FIELD(name) misbehaviour.name = field(L, #name)
  FIELD(silent);
  FIELD(asks_ms);
  FIELD(says_ms);
  FIELD(forgets);
  FIELD(expires);
  FIELD(drop_at);
  FIELD(drop_after);
  FIELD(largest);
  FIELD(kind);
  FIELD(count);
  FIELD(skip);
  FIELD(code);
#undef FIELD
  lua_getfield(L, 2, "treatment");
  misbehaviour.treatment = luaL_checkoption(L, -1, "cut", treatments);
  link_misbehave(check_link(L, 1), &misbehaviour);
  return 0;
}

/* link_visits(address): returns how many connections the link has had so far.
 * Returns three numbers: all connections, those for new sessions, and those for
 * existing sessions. */
static int visits(lua_State *L) {
  struct zk_visits so_far = link_visits(check_link(L, 1));
  lua_pushinteger(L, so_far.connections);
  lua_pushinteger(L, so_far.sessions);
  lua_pushinteger(L, so_far.returns);
  return 3;
}

/* ---- Traps --------------------------------------------------------------- */

/* link_lose_reply(address, kind): sets a trap, by which the next reply to a
 * request of this kind is lost (operator.h). `kind`: see zk_request_kind. */
static int lose_reply(lua_State *L) {
  link_lose_reply(check_link(L, 1), (int)luaL_checkinteger(L, 2));
  return 0;
}

/* link_keep_request(address, kind, …): sets a trap, by which the link keeps the
 * next request of one of these kinds (operator.h). */
static int keep_request(lua_State *L) {
  int kinds[KINDS], count = lua_gettop(L) - 1;
  luaL_argcheck(L, count <= KINDS, 2, "too many kinds");
  for (int i = 0; i < count; i++) kinds[i] = (int)luaL_checkinteger(L, i + 2);
  link_keep_request(check_link(L, 1), kinds, count);
  return 0;
}

static int apply_late(lua_State *L) {
  lua_pushboolean(L, link_apply_late(check_link(L, 1), schedule_now()));
  return 1;
}

static int cut_after_reply(lua_State *L) {
  link_cut_after_reply(check_link(L, 1), (int)luaL_checkinteger(L, 2));
  return 0;
}

/* link_cut_at(address, n): sets a trap, by which a connection breaks at the nth
 * message to a client (operator.h). */
static int cut_at(lua_State *L) {
  link_cut_at(check_link(L, 1), (int)luaL_checkinteger(L, 2));
  return 0;
}

static int disarm(lua_State *L) {
  link_disarm(check_link(L, 1));
  return 0;
}

/* link_has_sprung(address, "lost" | "kept" | "applied" | "last"): returns true
 * if this trap of the link has sprung since the last call (enum
 * link_sprung). */
static int has_sprung(lua_State *L) {
  static const char *const words[] = {"lost", "kept", "applied", "last", NULL};
  static const enum link_sprung what[] = {LINK_LOST, LINK_KEPT, LINK_APPLIED,
                                          LINK_LAST};
  int i = luaL_checkoption(L, 2, NULL, words);
  lua_pushboolean(L, link_has_sprung(check_link(L, 1), what[i]));
  return 1;
}

void lua_links_register(lua_State *L) {
  static const luaL_Reg functions[] = {{"link_new", new},
                                       {"link_cut", cut},
                                       {"link_half_open", half_open},
                                       {"link_mute_events", mute_events},
                                       {"link_refuse", refuse},
                                       {"link_freeze", freeze},
                                       {"link_delay", delay},
                                       {"link_drop", drop},
                                       {"link_heal", heal},
                                       {"link_behave", behave},
                                       {"link_visits", visits},
                                       {"link_lose_reply", lose_reply},
                                       {"link_keep_request", keep_request},
                                       {"link_apply_late", apply_late},
                                       {"link_cut_after_reply",
                                        cut_after_reply},
                                       {"link_cut_at", cut_at},
                                       {"link_disarm", disarm},
                                       {"link_has_sprung", has_sprung},
                                       {NULL, NULL}};
  for (const luaL_Reg *f = functions; f->name; f++) {
    lua_pushcfunction(L, f->func);
    lua_setfield(L, -2, f->name);
  }
}
