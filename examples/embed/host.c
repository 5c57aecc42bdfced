/* A C program that embeds Lua and has an event loop of its own, here epoll:
 * it watches the session's file descriptor and calls step() when there is
 * something to do.  Lua takes its locks with acquire_async: no coroutines, and
 * nothing ever blocks.
 *
 *     cc examples/embed/host.c -I/usr/include/lua5.4 -llua5.4 -o host
 *     ./host examples/embed/jobs.lua [hosts] */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

static void check(int failed, const char *what) {
  if (!failed) return;
  perror(what);
  exit(EXIT_FAILURE);
}

static void check_lua(lua_State *L, int status) {
  if (status == 0) return;
  fprintf(stderr, "%s\n", lua_tostring(L, -1));
  exit(EXIT_FAILURE);
}

/* Calls a function of the table that jobs.lua has returned. */
static lua_Number call(lua_State *L, const char *name) {
  lua_getfield(L, 1, name);
  check_lua(L, lua_pcall(L, 0, 1, 0));
  lua_Number result = lua_tonumber(L, -1);
  lua_pop(L, 1);
  return result;
}

static void watch(int loop, int fd) {
  struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
  check(epoll_ctl(loop, EPOLL_CTL_ADD, fd, &event) < 0, "epoll_ctl");
}

/* The rest of the program's work: something every 5 ms. */
static int open_clock(void) {
  struct itimerspec every = {{0, 5000000}, {0, 5000000}};
  int clock = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  check(clock < 0, "timerfd_create");
  check(timerfd_settime(clock, 0, &every, NULL) < 0, "timerfd_settime");
  return clock;
}

static int tick(int clock) {
  uint64_t times;
  return read(clock, &times, sizeof times) > 0;
}

int main(int argc, char **argv) {
  if (argc < 2) return fprintf(stderr, "usage: host jobs.lua [hosts]\n"), 64;
  lua_State *L = luaL_newstate();
  check(!L, "luaL_newstate");
  luaL_openlibs(L);
  check_lua(L, luaL_loadfile(L, argv[1]));
  lua_pushstring(L, argc > 2 ? argv[2] : "127.0.0.1:2181");
  check_lua(L, lua_pcall(L, 1, 1, 0));

  int loop = epoll_create1(EPOLL_CLOEXEC), ticks = 0;
  check(loop < 0, "epoll_create1");
  int clock = open_clock(), session = (int)call(L, "fd");
  watch(loop, clock);
  watch(loop, session);
  while (call(L, "jobs") > 0) {
    struct epoll_event event;
    if (epoll_wait(loop, &event, 1, -1) < 1) continue;
    if (event.data.fd == session)
      call(L, "step");
    else
      ticks += tick(clock);
  }
  epoll_ctl(loop, EPOLL_CTL_DEL, session, NULL); /* before it is closed */
  call(L, "close");
  lua_close(L);
  printf("the host went on for %d ticks\n", ticks);
  close(clock);
  close(loop);
  return ticks > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
