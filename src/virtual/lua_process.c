/* Calls a function in a child process, which has its own ensembles and can
 * crash. */
#include "lua_process.h"

#include <errno.h>
#include <lauxlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void run(lua_State *L, unsigned seconds) {
  struct rlimit limit = {seconds, seconds + 1};
  setrlimit(RLIMIT_CPU, &limit);
  int failed = lua_pcall(L, 0, 0, 0);
  if (failed) fprintf(stderr, "%s\n", lua_tostring(L, -1));
  fflush(NULL);
  _exit(failed ? 1 : 0);
}

/* attempt(seconds, function): calls the function in a child process. The child
 * is killed when it has used this many seconds of processor time. Returns
 * whether the child has succeeded, and how it ended. */
static int attempt(lua_State *L) {
  int status = 0;
  unsigned seconds = (unsigned)luaL_checkinteger(L, 1);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) return luaL_error(L, "cannot fork: %s", strerror(errno));
  if (child == 0) run(L, seconds);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  lua_pushboolean(L, status == 0);
  if (WIFSIGNALED(status))
    lua_pushfstring(L, "signal %d (%s)", WTERMSIG(status),
                    strsignal(WTERMSIG(status)));
  else
    lua_pushfstring(L, "exit code %d", WEXITSTATUS(status));
  return 2;
}

void lua_process_register(lua_State *L) {
  lua_pushcfunction(L, attempt);
  lua_setfield(L, -2, "attempt");
}
