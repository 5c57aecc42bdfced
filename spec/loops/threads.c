/* Many Lua states in one process, each in a thread of its own, that contend
 * for the same locks while some of them are closed and made again.
 *
 *     threads script.lua hosts path threads rounds
 *
 * In each round a thread makes a state, runs script.lua(hosts, path, thread,
 * round) in it, and closes it.  The script has `inside(name, change)`, which
 * counts who is in a section, in all threads: more than one is an error. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

enum { SECTIONS = 8, MOST = 64 };

static atomic_int people[SECTIONS];
static atomic_int sections, failures;
static char **arguments;

/* inside(section, change) */
static int inside(lua_State *L) {
  int section = (int)luaL_checknumber(L, 1) % SECTIONS;
  int change = (int)luaL_checknumber(L, 2);
  int now = atomic_fetch_add(&people[section], change) + change;
  if (change > 0) atomic_fetch_add(&sections, 1);
  if (now < 0 || now > 1)
    return luaL_error(L, "%d are in section %d", now, section);
  return 0;
}

static bool run(int thread, int round) {
  lua_State *L = luaL_newstate();
  if (!L) return false;
  luaL_openlibs(L);
  lua_pushcfunction(L, inside);
  lua_setglobal(L, "inside");
  int status = luaL_loadfile(L, arguments[1]);
  if (status == 0) {
    lua_pushstring(L, arguments[2]);
    lua_pushstring(L, arguments[3]);
    lua_pushnumber(L, thread);
    lua_pushnumber(L, round);
    status = lua_pcall(L, 4, 0, 0);
  }
  if (status != 0)
    fprintf(stderr, "thread %d, round %d: %s\n", thread, round,
            lua_tostring(L, -1));
  lua_close(L);
  return status == 0;
}

static void *work(void *context) {
  int thread = *(int *)context, rounds = atoi(arguments[5]);
  for (int round = 1; round <= rounds; round++)
    if (!run(thread, round)) atomic_fetch_add(&failures, 1);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 6) return 64;
  arguments = argv;
  pthread_t threads[MOST];
  int names[MOST], count = atoi(argv[4]);
  for (int i = 0; i < count && i < MOST; i++) {
    names[i] = i + 1;
    if (pthread_create(&threads[i], NULL, work, &names[i])) return 1;
  }
  for (int i = 0; i < count && i < MOST; i++) pthread_join(threads[i], NULL);
  printf("%d sections, %d failures\n", atomic_load(&sections),
         atomic_load(&failures));
  return atomic_load(&failures) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
