/* A Lua interpreter to run the specs in under a sanitizer: the sanitizer's
 * run-time has to be in the program, and the stock interpreter has none.
 *
 *     lua [-e CODE]... [SCRIPT [ARGUMENT]...]
 *
 * Like the stock one as far as the specs can tell: `arg`, the paths from the
 * environment, a traceback, Ctrl-C, the exit status.  It closes its state, so
 * that what has not been freed then is a leak.  For Lua 5.1 to 5.5. */
#include <dirent.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

/* The address sanitizer's: false if nothing leaks. */
int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

/* The words of the command line → did all of it end well? */
static const char RUN[] =
    "local words, script = { ... }, 2\n"
    "while words[script] == '-e' do script = script + 2 end\n"
    "local zero = words[script] and script or 1\n"
    "arg = {}\n"
    "for i, word in ipairs(words) do arg[i - zero] = word end\n"
    "local function trace(problem)\n"
    "  return debug.traceback(tostring(problem), 2)\n"
    "end\n"
    "local ok, problem = xpcall(function()\n"
    "  for i = 3, script - 1, 2 do\n"
    "    assert((loadstring or load)(words[i], '=(command line)'))()\n"
    "  end\n"
    "  if not words[script] then return end\n"
    "  local chunk = assert(loadfile(words[script]))\n"
    "  chunk((unpack or table.unpack)(words, script + 1))\n"
    "end, trace)\n"
    "if not ok then io.stderr:write('lua: ', problem, '\\n') end\n"
    "return ok\n";

/* Ctrl-C raises an error as soon as Lua runs; the second one ends us. */
static lua_State *interruptible;

static void interrupt(lua_State *L, lua_Debug *unused) {
  (void)unused;
  lua_sethook(L, NULL, 0, 0);
  luaL_error(L, "interrupted!");
}

static void on_signal(int number) {
  signal(number, SIG_DFL);
  lua_sethook(interruptible, interrupt,
              LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT, 1);
}

static void *do_nothing(void *unused) { return unused; }

/* With the first thread of a process the thread sanitizer starts one of its
 * own: before the specs begin to count threads. */
static void start_helper(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, do_nothing, NULL) == 0)
    pthread_join(thread, NULL);
}

/* 0: the system does not say. */
static int count_threads(void) {
  DIR *tasks = opendir("/proc/self/task");
  int count = 0;
  if (!tasks) return 0;
  for (struct dirent *entry; (entry = readdir(tasks));)
    count += entry->d_name[0] != '.';
  closedir(tasks);
  return count;
}

/* A session that was closed without waiting ends on its own thread. */
static void await_threads(void) {
  struct timespec pause = {.tv_nsec = 10000000};
  for (int i = 0; i < 300 && count_threads() > 1; i++) nanosleep(&pause, NULL);
}

/* Reports leaks, and leaves the exit status to the program: whether a report
 * is of memory of ours, spec/sanitize finds out. */
static void report_leaks(void) {
  if (!__lsan_do_recoverable_leak_check) return;
  await_threads();
  __lsan_do_recoverable_leak_check();
}

int main(int argc, char **argv) {
  atexit(report_leaks);
  start_helper();
  lua_State *L = luaL_newstate();
  if (!L) return EXIT_FAILURE;
  luaL_openlibs(L);
  interruptible = L;
  signal(SIGINT, on_signal);
  luaL_loadbuffer(L, RUN, sizeof RUN - 1, "=lua");
  luaL_checkstack(L, argc, "too many arguments");
  for (int i = 0; i < argc; i++) lua_pushstring(L, argv[i]);
  bool ok = lua_pcall(L, argc, 1, 0) == 0 && lua_toboolean(L, -1);
  signal(SIGINT, SIG_DFL);
  lua_close(L);
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
