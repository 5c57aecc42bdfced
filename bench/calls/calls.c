/* What -finstrument-functions calls: notes the functions that are entered, in their
 * order.  The library is preloaded; Lua opens it as a module, too. */
#include <dlfcn.h>
#include <lauxlib.h>
#include <lua.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { CALLS_MAX = 100000 };

static struct call {
  uintptr_t address; /* of a function in C; or 0 */
  int file;          /* of a function in Lua */
  bool elsewhere;    /* not on the Lua thread */
} calls[CALLS_MAX];
static pthread_t lua_thread;
static atomic_int count;
static atomic_bool counts;

static void note(struct call call) {
  if (!counts) return;
  call.elsewhere = !pthread_equal(pthread_self(), lua_thread);
  int i = count++;
  if (i < CALLS_MAX) calls[i] = call;
}

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

void __cyg_profile_func_enter(void *function, void *site) {
  (void)site;
  note((struct call){.address = (uintptr_t)function});
}

void __cyg_profile_func_exit(void *function, void *site) {
  (void)function;
  (void)site;
}

static int begin(lua_State *L) {
  (void)L;
  count = 0;
  lua_thread = pthread_self();
  counts = true;
  return 0;
}

/* enter(file): a function of this number's file, in Lua, is entered. */
static int enter(lua_State *L) {
  note((struct call){.file = (int)luaL_checkinteger(L, 1)});
  return 0;
}

/* stop(): two arrays, of the calls on the Lua thread and on others.  Each call is the
 * number of a file (Lua), or a string: an address in the library of C, as addr2line(1)
 * takes it. */
static int stop(lua_State *L) {
  counts = false;
  int last = count;
  if (last > CALLS_MAX) return luaL_error(L, "more than %d calls", CALLS_MAX);
  lua_newtable(L);
  lua_newtable(L);
  for (int i = 0; i < last; i++) {
    Dl_info info;
    int list = calls[i].elsewhere ? -2 : -3;
    if (!calls[i].address)
      lua_pushinteger(L, calls[i].file);
    else if (dladdr((void *)calls[i].address, &info))
      lua_pushfstring(L, "%p",
                      (void *)(calls[i].address - (uintptr_t)info.dli_fbase));
    else
      return luaL_error(L, "an address is in no library");
    lua_rawseti(L, list, (int)lua_rawlen(L, list) + 1);
  }
  return 2;
}

int luaopen_calls(lua_State *L) {
  lua_newtable(L);
  lua_pushcfunction(L, begin);
  lua_setfield(L, -2, "begin");
  lua_pushcfunction(L, enter);
  lua_setfield(L, -2, "enter");
  lua_pushcfunction(L, stop);
  lua_setfield(L, -2, "stop");
  return 1;
}
