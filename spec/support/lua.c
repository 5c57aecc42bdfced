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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The address sanitizer's: false if nothing leaks. */
int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

struct command_line {
  int count;
  char **words;
  int status;
};

/* message → message with traceback */
static int add_traceback(lua_State *L) {
  lua_getglobal(L, "debug");
  lua_getfield(L, -1, "traceback");
  lua_pushvalue(L, 1);
  if (!lua_isstring(L, 1)) {
    if (!luaL_callmeta(L, 1, "__tostring"))
      lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
    lua_replace(L, -2);
  }
  lua_pushinteger(L, 2);
  lua_call(L, 2, 1);
  return 1;
}

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

/* function, n arguments → nothing; false: an error was reported */
static int call(lua_State *L, int n) {
  int base = lua_gettop(L) - n;
  lua_pushcfunction(L, add_traceback);
  lua_insert(L, base);
  interruptible = L;
  signal(SIGINT, on_signal);
  int status = lua_pcall(L, n, 0, base);
  signal(SIGINT, SIG_DFL);
  if (status != 0) {
    fprintf(stderr, "lua: %s\n", lua_tostring(L, -1));
    lua_pop(L, 1);
  }
  lua_remove(L, base);
  return status == 0;
}

static int report_load_error(lua_State *L) {
  fprintf(stderr, "lua: %s\n", lua_tostring(L, -1));
  return 0;
}

static int run_code(lua_State *L, const char *code) {
  if (luaL_loadbuffer(L, code, strlen(code), "=(command line)") != 0)
    return report_load_error(L);
  return call(L, 0);
}

/* The script's name is arg[0], what comes before it has negative indices. */
static void set_arg(lua_State *L, const struct command_line *line, int script) {
  lua_newtable(L);
  for (int i = 0; i < line->count; i++) {
    lua_pushstring(L, line->words[i]);
    lua_rawseti(L, -2, i - script);
  }
  lua_setglobal(L, "arg");
}

static int run_script(lua_State *L, const struct command_line *line,
                      int script) {
  if (luaL_loadfile(L, line->words[script]) != 0) return report_load_error(L);
  int n = line->count - script - 1;
  luaL_checkstack(L, n, "too many arguments");
  for (int i = 1; i <= n; i++) lua_pushstring(L, line->words[script + i]);
  return call(L, n);
}

static int run(lua_State *L, const struct command_line *line) {
  int script = 1;
  while (script + 1 < line->count && strcmp(line->words[script], "-e") == 0)
    script += 2;
  set_arg(L, line, script < line->count ? script : 0);
  for (int i = 2; i < script; i += 2)
    if (!run_code(L, line->words[i])) return 0;
  return script >= line->count || run_script(L, line, script);
}

static int protected_main(lua_State *L) {
  struct command_line *line = lua_touserdata(L, 1);
  luaL_openlibs(L);
  line->status = run(L, line) ? EXIT_SUCCESS : EXIT_FAILURE;
  return 0;
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
  struct command_line line = {argc, argv, EXIT_FAILURE};
  atexit(report_leaks);
  start_helper();
  lua_State *L = luaL_newstate();
  if (!L) return EXIT_FAILURE;
  lua_pushcfunction(L, protected_main);
  lua_pushlightuserdata(L, &line);
  if (lua_pcall(L, 1, 0, 0) != 0)
    fprintf(stderr, "lua: %s\n", lua_tostring(L, -1));
  lua_close(L);
  return line.status;
}
