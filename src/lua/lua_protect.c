/* Errors that pass through us, and what must happen all the same.
 *
 * A hook (a debugger's, the one that an interpreter sets upon Ctrl-C) may
 * raise between any two instructions of Lua, and nowhere inside a function of
 * C.  So what must not be torn apart is done here.
 *
 * An error that a hook has raised is its caller's, whoever's code it struck.
 * The message handler sees whether it runs on top of a hook, and remembers the
 * error: so it is known again when somebody has passed it on. */
#include "lua_protect.h"

#include <pthread.h>
#include <signal.h>

/* The last error of a hook's is at this key of the registry. */
static const char interruption = 0;

#if LUA_VERSION_NUM >= 502
static int call(lua_State *L);

static bool is_in_hook(lua_State *L) {
  lua_Debug ar;
  for (int level = 0; lua_getstack(L, level, &ar); level++) {
    lua_getinfo(L, "nf", &ar);
    bool ours = lua_tocfunction(L, -1) == call;
    lua_pop(L, 1);
    if (*ar.namewhat == 'h') return true; /* "hook" */
    if (ours) return false;
  }
  return false;
}
#else
/* Hooks do not nest: whoever cannot be hooked is in one. */
static _Thread_local bool heard;

static void hear(lua_State *L, lua_Debug *ar) {
  (void)L;
  (void)ar;
  heard = true;
}

/* This function is at its own address in the registry: a message handler must
 * allocate nothing, for a finalizer would run inside it. */
static int do_nothing(lua_State *L) {
  (void)L;
  return 0;
}

static void push_key(lua_State *L) {
  lua_pushlightuserdata(L, (void *)(uintptr_t)do_nothing);
}

static bool is_in_hook(lua_State *L) {
  sigset_t all, before;
  sigfillset(&all); /* a handler may want to set a hook meanwhile */
  pthread_sigmask(SIG_BLOCK, &all, &before);
  lua_Hook hook = lua_gethook(L);
  int mask = lua_gethookmask(L), count = lua_gethookcount(L);
  heard = false;
  lua_sethook(L, hear, LUA_MASKCALL, 0);
  push_key(L);
  lua_rawget(L, LUA_REGISTRYINDEX);
  lua_call(L, 0, 0);
  lua_sethook(L, hook, mask, count);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return !heard;
}
#endif

/* message → message */
static int handle(lua_State *L) {
  lua_settop(L, 1);
  if (!is_in_hook(L)) return 1;
  lua_pushlightuserdata(L, (void *)&interruption);
  lua_pushvalue(L, 1);
  lua_rawset(L, LUA_REGISTRYINDEX);
  return 1;
}

static bool struck_by_hook(lua_State *L, int index) {
  lua_pushlightuserdata(L, (void *)&interruption);
  lua_rawget(L, LUA_REGISTRYINDEX);
  bool same = !lua_isnil(L, -1) && lua_rawequal(L, index, -1);
  lua_pop(L, 1);
  return same;
}

#if LUA_VERSION_NUM >= 502
static void keep_functions(lua_State *L) { (void)L; }

static void add_traceback(lua_State *L) {
  luaL_traceback(L, L, lua_tostring(L, 1), 1);
}
#else
/* Lua's own, as it is when we are loaded, is at this key of the registry; nil,
 * where there is no debug library. */
static const char traceback = 0;

static void keep_functions(lua_State *L) {
  push_key(L);
  lua_pushcfunction(L, do_nothing);
  lua_rawset(L, LUA_REGISTRYINDEX);
  lua_pushlightuserdata(L, (void *)&traceback);
  lua_getglobal(L, "debug");
  if (lua_istable(L, -1))
    lua_getfield(L, -1, "traceback");
  else
    lua_pushnil(L);
  lua_remove(L, -2);
  lua_rawset(L, LUA_REGISTRYINDEX);
}

static void add_traceback(lua_State *L) {
  lua_pushlightuserdata(L, (void *)&traceback);
  lua_rawget(L, LUA_REGISTRYINDEX);
  if (lua_isnil(L, -1)) {
    lua_settop(L, 1);
    return;
  }
  lua_pushvalue(L, 1);
  lua_pushinteger(L, 2);
  lua_call(L, 2, 1);
}
#endif

/* message → message, with a traceback: of a callback, whose error will be told
 * when its stack is gone.  What is no text, or a hook's, stays what it is. */
static int trace(lua_State *L) {
  handle(L);
  if (lua_type(L, 1) != LUA_TSTRING || struck_by_hook(L, 1)) return 1;
  add_traceback(L);
  return 1;
}

/* struck(problem): has a hook raised it? */
static int struck(lua_State *L) {
  lua_settop(L, 1);
  lua_pushboolean(L, struck_by_hook(L, 1));
  return 1;
}

#if LUA_VERSION_NUM >= 503
#define CONTINUATION(name) \
  static int name(lua_State *L, int status, lua_KContext context)
#else /* 5.1 and LuaJIT: nothing yields inside */
#define LUA_OK 0
#define CONTINUATION(name) \
  static int name(lua_State *L, int status, int context)
#define lua_pcallk(L, n, results, handler, context, k) \
  lua_pcall(L, n, results, handler)
#endif

/* Callbacks. */

CONTINUATION(called) {
  (void)context;
  lua_pushboolean(L, status == LUA_OK || status == LUA_YIELD);
  if (lua_toboolean(L, -1)) return 1;
  lua_insert(L, -2);
  lua_pushboolean(L, struck_by_hook(L, lua_gettop(L)));
  return 3;
}

/* call(item, …): calls `item.fn(…)`, once: it is taken out of the item in the
 * same moment.  → true; or false, problem (text with a traceback), and whether a
 * hook has raised it */
static int call(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_getfield(L, 1, "fn");
  if (!lua_toboolean(L, -1)) {
    lua_pushboolean(L, 1);
    return 1;
  }
  lua_pushboolean(L, 0);
  lua_setfield(L, 1, "fn");
  lua_replace(L, 1);
  lua_pushcfunction(L, trace);
  lua_insert(L, 1);
  return called(L, lua_pcallk(L, lua_gettop(L) - 2, LUA_MULTRET, 1, 0, called),
                0);
}

/* Endings. */

enum { ATTEMPTS = 3 }; /* to finish: a hook as a rule raises once */

/* Calls `closing:finish()` until it gets through, with `closing` at `index`.
 * Should it be interrupted, then the call has failed: `fine` is false, and the
 * first error is pushed.  False: there is one. */
static bool finish(lua_State *L, int index) {
  bool good = true;
  for (int i = 0; i < ATTEMPTS; i++) {
    lua_pushcfunction(L, handle);
    lua_getfield(L, index, "finish");
    lua_pushvalue(L, index);
    int status = lua_pcall(L, 1, 0, -3);
    lua_remove(L, status == LUA_OK ? -1 : -2);
    if (status == LUA_OK) break;
    lua_pushboolean(L, 0);
    lua_setfield(L, index, "fine");
    if (!good) lua_pop(L, 1);
    good = false;
  }
  return good;
}

/* Lua's `__close` */
static int close_(lua_State *L) {
  lua_settop(L, 1);
  return finish(L, 1) ? 0 : lua_error(L);
}

static void set_fine(lua_State *L, int index) {
  lua_pushboolean(L, 1);
  lua_setfield(L, index, "fine");
}

#if LUA_VERSION_NUM >= 504
static int protect(lua_State *L), protected_method(lua_State *L);

/* The functions that catch errors, of the base library. */
static _Atomic lua_CFunction pcall, xpcall; /* the same in each state */

/* (One of ours has seen to it that it is: see pass.) */
static bool catches(lua_CFunction f) {
  return f && (f == pcall || f == xpcall || f == call || f == protect ||
               f == protected_method);
}

static bool is_caught(lua_State *L) {
  bool caught = lua_pushthread(L);
  lua_pop(L, 1);
  lua_Debug ar;
  for (int level = 1; !caught && lua_getstack(L, level, &ar); level++) {
    lua_getinfo(L, "f", &ar);
    caught = catches(lua_tocfunction(L, -1));
    lua_pop(L, 1);
  }
  return caught;
}

CONTINUATION(passed) {
  (void)context;
  if (status == LUA_OK || status == LUA_YIELD) {
    set_fine(L, 2);
    return lua_gettop(L) - 2;
  }
  finish(L, 2);
  return lua_error(L);
}

/* closing, function, arguments → results.  A slot that is to be closed leaves
 * errors and their tracebacks as they are, and is closed when the coroutine
 * is.  But a coroutine that dies of an error closes nothing by itself. */
static int pass(lua_State *L) {
  lua_pushcfunction(L, handle);
  lua_insert(L, 1);
  int n = lua_gettop(L) - 3;
  lua_toclose(L, 2);
  if (!is_caught(L))
    return passed(L, lua_pcallk(L, n, LUA_MULTRET, 1, 0, passed), 0);
  lua_callk(L, n, LUA_MULTRET, 0, passed);
  return passed(L, LUA_OK, 0);
}
#else
CONTINUATION(passed) {
  (void)context;
  bool good = status == LUA_OK || status == LUA_YIELD;
  if (good) set_fine(L, 2);
  if (!finish(L, 2) || !good) return lua_error(L);
  return lua_gettop(L) - 2;
}

/* closing, function, arguments → results */
static int pass(lua_State *L) {
  lua_pushcfunction(L, handle);
  lua_insert(L, 1);
  return passed(L, lua_pcallk(L, lua_gettop(L) - 3, LUA_MULTRET, 1, 0, passed),
                0);
}
#endif

/* protect(closing, fn, …): calls `fn(…)`, and then `closing:finish()`, however
 * fn ends; `closing.fine` says how.  Nothing of Lua runs in between. */
static int protect(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checkany(L, 2);
  return pass(L);
}

#if LUA_VERSION_NUM >= 503
enum { ARGUMENTS_MAX = 10 }; /* of a method */
enum { CLOSING_FIELDS = 4 }; /* that most have in the end */
enum { UP_FN = 1, UP_CLOSING, UP_SELF, UP_ARGUMENTS, UP_REFUSE };

/* Is it called as a method, and with no more arguments than it takes?  If not,
 * `refuse(self, surplus)` raises. */
static void look(lua_State *L) {
  if (lua_isnil(L, lua_upvalueindex(UP_REFUSE))) return;
  int most = (int)lua_tointeger(L, lua_upvalueindex(UP_ARGUMENTS)) + 1;
  bool surplus = !lua_isnoneornil(L, most + 1);
  bool is_method = lua_getmetatable(L, 1);
  if (is_method) {
    is_method = lua_rawequal(L, -1, lua_upvalueindex(UP_SELF));
    lua_pop(L, 1);
  }
  if (surplus || !is_method) {
    lua_settop(L, most + 1);
    lua_pushvalue(L, lua_upvalueindex(UP_REFUSE));
    lua_pushvalue(L, 1);
    lua_pushvalue(L, most + 1);
    lua_call(L, 2, 0);
  }
  if (lua_gettop(L) > most) lua_settop(L, most);
}

/* What method() makes: `fn(closing, …)`, protected, with a closing of its own.
 * So there is no instruction of ours after the end of the protection. */
static int protected_method(lua_State *L) {
  luaL_checkstack(L, 6, NULL);
  look(L);
  lua_createtable(L, 0, CLOSING_FIELDS);
  lua_pushvalue(L, lua_upvalueindex(UP_CLOSING));
  lua_setmetatable(L, -2);
  lua_insert(L, 1);
  lua_pushvalue(L, lua_upvalueindex(UP_FN));
  lua_insert(L, 2);
  lua_pushvalue(L, 1);
  lua_insert(L, 3);
  return pass(L);
}

/* method(fn, class): `class` is the metatable of each call's closing */
static int method(lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, UP_REFUSE);
  lua_pushcclosure(L, protected_method, UP_REFUSE);
  return 1;
}

/* look(method, class, n, refuse) → true: from now on the method sees to it
 * that it is one of `class`, with n arguments; or false: it is none of ours */
static int make_look(lua_State *L) {
  lua_settop(L, 4);
  lua_Number n = luaL_checknumber(L, 3);
  luaL_argcheck(L, n >= 0 && n <= ARGUMENTS_MAX, 3, "too many arguments");
  bool ours = lua_tocfunction(L, 1) == protected_method;
  for (int up = UP_REFUSE; ours && up >= UP_SELF; up--)
    lua_setupvalue(L, 1, up);
  lua_pushboolean(L, ours);
  return 1;
}
#endif

#if LUA_VERSION_NUM >= 504
static lua_CFunction global_function(lua_State *L, const char *name) {
  lua_getglobal(L, name);
  lua_CFunction f = lua_tocfunction(L, -1);
  lua_pop(L, 1);
  return f;
}
#endif

void binding_register_protect(lua_State *L) {
#if LUA_VERSION_NUM >= 504
  pcall = global_function(L, "pcall");
  xpcall = global_function(L, "xpcall");
#endif
  keep_functions(L);
  static const luaL_Reg functions[] =
  { {"call", call},
    {"trace", trace},
    {"struck", struck},
    {"close", close_},
    {"protect", protect},
#if LUA_VERSION_NUM >= 503
    {"method", method},
    {"look", make_look},
#endif
    {NULL, NULL} };
  compat_setfuncs(L, functions);
}
