/* Implements the Lua module zklock.guardian. It has functions that `zklock run`
 * needs for the guardian and for signals. */
#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <lua.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "guardian.h"

/* start(words) → channel, pid; or nil, message
 *
 * Starts a guardian for the command `words`. `channel` is the descriptor of the
 * channel to the guardian, and `pid` is the guardian's process id. */
static int start(lua_State *L) {
  int n = 0, pid;
  luaL_checktype(L, 1, LUA_TTABLE);
  while (lua_rawgeti(L, 1, n + 1), !lua_isnil(L, -1)) {
    luaL_checktype(L, -1, LUA_TSTRING);
    lua_pop(L, 1);
    n++;
  }
  luaL_argcheck(L, n > 0, 1, "words are missing");
  char **list = lua_newuserdata(L, (size_t)(n + 1) * sizeof *list);
  for (int i = 0; i < n; i++) {
    lua_rawgeti(L, 1, i + 1);
    list[i] = (char *)lua_tostring(L, -1); /* the table keeps the string */
    lua_pop(L, 1);
  }
  list[n] = NULL;
  int channel = guardian_start(list, &pid);
  if (channel < 0) {
    lua_pushnil(L);
    lua_pushstring(L, strerror(errno));
    return 2;
  }
  lua_pushinteger(L, channel);
  lua_pushinteger(L, pid);
  return 2;
}

/* keep_ignored(number) → whether the signal was ignored when the process
 * started
 *
 * If it was, makes the process ignore it again, even if the interpreter has set
 * a handler. */
static int keep_ignored(lua_State *L) {
  struct inherited_signals inherited;
  int number = (int)luaL_checkinteger(L, 1);
  luaL_argcheck(L, number > 0 && number < 32, 1, "no signal");
  inherited_signals_record(&inherited);
  bool ignored = sigismember(&inherited.ignored, number) == 1;
  if (ignored) signal(number, SIG_IGN);
  lua_pushboolean(L, ignored);
  return 1;
}

/* fill_standard() → nothing
 *
 * Opens those of the descriptors 0, 1 and 2 that are closed. Otherwise the next
 * file that this process opens would become its standard input, output or
 * error. In the command, these descriptors are closed again. Descriptor 1 is
 * opened only for reading, so a write to it fails as if it were closed. */
static int fill_standard(lua_State *L) {
  (void)L;
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl(fd, F_GETFD) < 0)
      open("/dev/null", (fd == STDOUT_FILENO ? O_RDONLY : O_RDWR) | O_CLOEXEC);
  return 0;
}

/* stop() → nothing
 *
 * Stops this process and its group, as Ctrl-Z does. Returns when they are
 * continued. If the process group is orphaned, returns at once, because the
 * kernel then ignores SIGTSTP. */
static int stop(lua_State *L) {
  struct sigaction kept, action = {.sa_handler = SIG_DFL};
  (void)L;
  sigaction(SIGTSTP, &action, &kept);
  kill(0, SIGTSTP);
  sigaction(SIGTSTP, &kept, NULL);
  return 0;
}

/* kill_rest(group) → left, refused, whole, group
 *
 * Sends SIGKILL to the command's processes that are left after the guardian was
 * killed. Returns the fields of struct rest (guardian.h). */
static int kill_rest(lua_State *L) {
  struct rest rest = guardian_kill_rest((pid_t)luaL_checkinteger(L, 1));
  lua_pushboolean(L, rest.left);
  lua_pushboolean(L, rest.refused);
  lua_pushboolean(L, rest.whole);
  lua_pushinteger(L, rest.group);
  return 4;
}

/* exit(code) → never returns
 *
 * Ends the process at once, even if one of its threads is blocked. */
static int exit_now(lua_State *L) { _exit((int)luaL_checkinteger(L, 1)); }

__attribute__((visibility("default"))) int luaopen_zklock_guardian(
    lua_State *L) {
  static const luaL_Reg functions[] = {{"start", start},
                                       {"keep_ignored", keep_ignored},
                                       {"fill_standard", fill_standard},
                                       {"stop", stop},
                                       {"kill_rest", kill_rest},
                                       {"exit", exit_now},
                                       {NULL, NULL}};
  lua_newtable(L);
  for (const luaL_Reg *f = functions; f->name; f++) {
    lua_pushcfunction(L, f->func);
    lua_setfield(L, -2, f->name);
  }
  return 1;
}
