/* Implements the Lua module zklock.guardian. It has functions that `zklock run`
 * needs for the guardian, for signals and for its output. */
#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <lua.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "guardian.h"
#include "writer.h"

static int64_t nanoseconds(lua_State *L, const char *name) {
  lua_getfield(L, 1, name);
  double seconds = lua_isnil(L, -1) ? INFINITY : luaL_checknumber(L, -1);
  lua_pop(L, 1);
  return seconds < 9e9 ? (int64_t)(seconds * 1e9) : INT64_MAX;
}

/* Returns the string in the field `name` of the first argument. The string
 * stays valid, because the argument's table keeps it. */
static const char *text(lua_State *L, const char *name) {
  lua_getfield(L, 1, name);
  const char *value = luaL_checkstring(L, -1);
  lua_pop(L, 1);
  return value;
}

/* Pushes a userdata with the command's words as an array that NULL ends.
 * Returns the array. */
static char **arguments(lua_State *L) {
  lua_getfield(L, 1, "words");
  luaL_checktype(L, -1, LUA_TTABLE);
  int n = 0;
  for (;; n++) {
    lua_rawgeti(L, -1, n + 1);
    bool is_last = lua_isnil(L, -1);
    if (!is_last) luaL_checktype(L, -1, LUA_TSTRING);
    lua_pop(L, 1);
    if (is_last) break;
  }
  luaL_argcheck(L, n > 0, 1, "words are missing");
  char **list = lua_newuserdata(L, (size_t)(n + 1) * sizeof *list);
  for (int i = 0; i < n; i++) {
    lua_rawgeti(L, -2, i + 1);
    list[i] = (char *)lua_tostring(L, -1);
    lua_pop(L, 1);
  }
  list[n] = NULL;
  return list;
}

/* start{ words=, path=, holder=, grace=, max_hold= } → channel, pid; or nil,
 * message
 *
 * Starts a guardian for the command `words`. `grace` and `max_hold` are in
 * seconds; nil means no limit. `channel` is the descriptor of the channel to
 * the guardian, and `pid` is the guardian's process id. */
static int start(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  struct plan plan = {
      .path = text(L, "path"),
      .holder = text(L, "holder"),
      .grace = nanoseconds(L, "grace"),
      .max_hold = nanoseconds(L, "max_hold"),
      .arguments = arguments(L),
  };
  int pid, channel = guardian_start(&plan, &pid);
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
  bool ignored = inherited_signals_ignore(&inherited, number);
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

/* writer(fd) → a new writer (writer.h), or nothing if no thread can be
 * started */
static int start_writer(lua_State *L) {
  struct writer *writer = writer_start((int)luaL_checkinteger(L, 1));
  if (!writer) return 0;
  lua_pushlightuserdata(L, writer);
  return 1;
}

/* take(writer, text, whole) → the number of bytes added
 *
 * Adds the text to the bytes that the writer must write. With `whole`, adds all
 * of it or nothing; otherwise adds as much as fits. */
static int take(lua_State *L) {
  size_t size;
  struct writer *writer = lua_touserdata(L, 1);
  const char *text = luaL_checklstring(L, 2, &size);
  lua_pushnumber(L, (lua_Number)writer_take(writer, text, size,
                                            lua_toboolean(L, 3)));
  return 1;
}

/* is_idle(writer) → whether everything was written, and a message or nothing
 *
 * The message describes a write that has failed since the last call. */
static int is_idle(lua_State *L) {
  int problem;
  lua_pushboolean(L, writer_is_idle(lua_touserdata(L, 1), &problem));
  if (!problem) return 1;
  lua_pushstring(L, strerror(problem));
  return 2;
}

/* finish(writer, milliseconds) → nothing
 *
 * Waits until everything was written, but at most for this time. */
static int finish(lua_State *L) {
  writer_finish(lua_touserdata(L, 1), (int)luaL_checkinteger(L, 2));
  return 0;
}

__attribute__((visibility("default"))) int luaopen_zklock_guardian(
    lua_State *L) {
  static const luaL_Reg functions[] = {{"start", start},
                                       {"keep_ignored", keep_ignored},
                                       {"fill_standard", fill_standard},
                                       {"stop", stop},
                                       {"kill_rest", kill_rest},
                                       {"writer", start_writer},
                                       {"take", take},
                                       {"is_idle", is_idle},
                                       {"finish", finish},
                                       {NULL, NULL}};
  lua_newtable(L);
  for (const luaL_Reg *f = functions; f->name; f++) {
    lua_pushcfunction(L, f->func);
    lua_setfield(L, -2, f->name);
  }
  return 1;
}
