/* Creates the table of the module zklock.core, and its functions that need no
 * userdata. The binding only converts arguments and results; it contains no
 * lock logic. Only the Lua layer calls it, after checking the users'
 * arguments. */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/clock.h"
#include "io/digest.h"
#include "io/ending.h"
#include "io/imports.h"
#include "io/library.h"
#include "io/process.h"
#include "lua_ask.h"
#include "lua_hold_ref.h"

/* The functions below check users' arguments. If an argument is wrong, they
 * return a text that becomes part of the Lua layer's error message. */

/* Returns the results of a Lua function: what is wrong with the string at index
 * 1 according to `fault_of`, or nothing. */
static int check(lua_State *L, const char *(*fault_of)(const char *, size_t)) {
  size_t length;
  const char *text = luaL_checklstring(L, 1, &length);
  const char *fault = fault_of(text, length);
  if (fault) lua_pushstring(L, fault);
  return fault ? 1 : 0;
}

static int check_path(lua_State *L) { return check(L, path_fault); }

/* check_node(node): a valid `node` is the name of a contender's node, as
 * contenders() returns it. */
static int check_node(lua_State *L) { return check(L, path_node_fault); }

static int check_chroot(lua_State *L) { return check(L, hosts_chroot_fault); }

/* contender_in(path) → a component of the path, or nothing
 *
 * Returns the first component that can be the name of a contender's node. */
static int contender_in(lua_State *L) {
  size_t size, length;
  const char *path = luaL_checklstring(L, 1, &size);
  const char *component = path_contender(path, size, &length);
  if (!component) return 0;
  lua_pushlstring(L, component, length);
  return 1;
}

/* sha256(text) → the SHA-256 of the text, as 64 hexadecimal digits */
static int sha256(lua_State *L) {
  size_t size;
  const char *text = luaL_checklstring(L, 1, &size);
  char digits[DIGEST_DIGITS + 1];
  digest_sha256(digits, text, size);
  lua_pushstring(L, digits);
  return 1;
}

static void push_list(lua_State *L, const struct hosts *hosts) {
  lua_createtable(L, hosts->count, 0);
  for (int i = 0; i < hosts->count; i++) {
    lua_createtable(L, 0, 2);
    lua_pushstring(L, hosts->list[i].name);
    lua_setfield(L, -2, "host");
    lua_pushinteger(L, atoi(hosts->list[i].port));
    lua_setfield(L, -2, "port");
    lua_rawseti(L, -2, i + 1);
  }
}

/* Pushes the results of check_hosts for valid hosts. Called in protected mode,
 * because the caller must free the list even if this function raises an
 * error. */
static int push_hosts(lua_State *L) {
  const struct hosts *hosts = lua_touserdata(L, 1);
  lua_pushstring(L, hosts->chroot);
  push_list(L, hosts);
  return 2;
}

/* check_hosts(text) → a text that says what is wrong; or nil, chroot, list
 *
 * `list` has a table { host =, port = } for each host. */
static int check_hosts(lua_State *L) {
  size_t length;
  const char *text = luaL_checklstring(L, 1, &length);
  struct hosts hosts;
  char fault[256] = "contains a NUL byte";
  if (strlen(text) < length) {
    lua_pushstring(L, fault);
    return 1;
  }
  lua_pushnil(L);
  lua_pushcfunction(L, push_hosts);
  bool ok = hosts_parse(&hosts, text, fault, sizeof fault);
  lua_pushlightuserdata(L, &hosts);
  int status = ok ? lua_pcall(L, 1, 2, 0) : 0;
  free(hosts.list);
  if (status != 0) return lua_error(L);
  if (ok) return 3;
  if (!*fault) return luaL_error(L, "not enough memory");
  lua_pushstring(L, fault);
  return 1;
}

static int now(lua_State *L) {
  lua_pushnumber(L, (lua_Number)clock_now() / NANOSECONDS);
  return 1;
}

static int hostname(lua_State *L) {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  lua_pushstring(L, name);
  return 1;
}

static int pid(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)process_id());
  return 1;
}

/* Opens zklock's own library again, and returns the dlopen handle. Returns NULL
 * if the library cannot be found. */
static void *open_ourselves(int flags) {
  Dl_info info;
  if (!dladdr((void *)(uintptr_t)open_ourselves, &info)) return NULL;
  return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | flags);
}

/* end_on(name) → true; or nil, message; or nothing
 *
 * From now on, the signal `name` first releases all locks, and then ends the
 * process: see ending.h. Returns nothing if zklock does not support this
 * signal. */
static int end_on(lua_State *L) {
  static const struct {
    const char *name;
    int number;
  } signals[] = {{"HUP", SIGHUP},
                 {"INT", SIGINT},
                 {"QUIT", SIGQUIT},
                 {"TERM", SIGTERM}};
  const char *name = luaL_checkstring(L, 1);
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    if (strcmp(name, signals[i].name) != 0) continue;
    if (ending_watch(signals[i].number)) {
      lua_pushboolean(L, 1);
      return 1;
    }
    lua_pushnil(L);
    lua_pushstring(L, strerror(errno));
    return 2;
  }
  return 0;
}

/* Keeps this library in memory: lua_close would unload it, but zklock's threads
 * can outlive the lua_State. Then binds zklock's calls to the ZooKeeper client
 * library that it is linked to (library_bind). Raises an error if other
 * functions of the same names prevent that. */
static void pin_and_bind(lua_State *L) {
  void *self = open_ourselves(RTLD_NODELETE);
  if (self && !library_bind(self))
    luaL_error(L,
               "zklock: another ZooKeeper client library of this process has "
               "functions of the same names, and was loaded before: require "
               "\"zklock\" first");
}

/* Pushes whether the linked ZooKeeper client library exports this function.
 * Used for functions that the library's header does not declare. */
static int client_has(lua_State *L, const char *function) {
  void *self = open_ourselves(0);
  lua_pushboolean(L, self && dlsym(self, function));
  if (self) dlclose(self);
  return 1;
}

static int has_sasl(lua_State *L) {
  return client_has(L, "zookeeper_init_sasl");
}

/* has_streams() → whether zklock can put TLS between the client library and its
 * socket */
static int has_streams(lua_State *L) {
  lua_pushboolean(L, imports_have_streams());
  return 1;
}

__attribute__((visibility("default"))) int luaopen_zklock_core(lua_State *L) {
  static const luaL_Reg functions[] = {{"session", binding_new_session},
                                       {"open", binding_open_session},
                                       {"hold", binding_new_hold_ref},
                                       {"lock_options",
                                        binding_new_lock_options},
                                       {"awaiting", binding_new_await},
                                       {"check_path", check_path},
                                       {"check_node", check_node},
                                       {"check_hosts", check_hosts},
                                       {"check_chroot", check_chroot},
                                       {"contender_in", contender_in},
                                       {"sha256", sha256},
                                       {"now", now},
                                       {"hostname", hostname},
                                       {"pid", pid},
                                       {"end_on", end_on},
                                       {"running", binding_running},
                                       {"mode", binding_mode},
                                       {"survey", binding_survey},
                                       {"own_data", binding_own_data},
                                       {"has_streams", has_streams},
                                       {"has_sasl", has_sasl},
                                       {NULL, NULL}};
  static _Atomic int states;
  compat_checkversion(L);
  pin_and_bind(L);
  binding_register_settings(L);
  binding_register_hold_ref(L);
  binding_register_session(L);
  binding_register_ask(L);
  binding_register_acquire(L);
  binding_register_await(L);
  binding_register_nginx(L);
  luaL_newlib(L, functions);
  lua_pushinteger(L, DATA_MAX_BYTES);
  lua_setfield(L, -2, "data_max");
  lua_pushliteral(L, REVOKE_MARK);
  lua_setfield(L, -2, "revoke_mark");
  /* Whether this is the first Lua state that loads the module in this process,
   * or in the process from which this one was forked. */
  lua_pushboolean(L, states++ == 0);
  lua_setfield(L, -2, "is_first");
  lua_pushliteral(L, "st");
  lua_setfield(L, -2, "backend");
  return 1;
}
