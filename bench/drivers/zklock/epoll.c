// What the driver needs, and Lua lacks: epoll, for any number of descriptors, a
// read that takes what is there, and a connection that breaks.
#include <errno.h>
#include <lauxlib.h>
#include <lua.h>
#include <math.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define BATCH 256

static int epoll = -1;

static int failure(lua_State *L) {
  return luaL_error(L, "%s", strerror(errno));
}

// add(fd): from now on wait() says when it is readable.
static int l_add(lua_State *L) {
  struct epoll_event event = {.events = EPOLLIN};
  event.data.fd = (int)luaL_checkinteger(L, 1);
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event) != 0)
    return failure(L);
  return 0;
}

static int l_remove(lua_State *L) {
  int fd = (int)luaL_checkinteger(L, 1);
  if (epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL) != 0) return failure(L);
  return 0;
}

// wait(seconds or nil, ready): how many are readable; they are put into the
// table, from 1.  Rounded up, so that a timer has run out when it returns.
static int l_wait(lua_State *L) {
  struct epoll_event events[BATCH];
  int timeout = -1, count, i;
  if (!lua_isnoneornil(L, 1))
    timeout = (int)ceil(fmax(luaL_checknumber(L, 1), 0) * 1000);
  luaL_checktype(L, 2, LUA_TTABLE);
  do {
    count = epoll_wait(epoll, events, BATCH, timeout);
  } while (count < 0 && errno == EINTR);
  if (count < 0) return failure(L);
  for (i = 0; i < count; i++) {
    lua_pushinteger(L, events[i].data.fd);
    lua_rawseti(L, 2, i + 1);
  }
  lua_pushinteger(L, count);
  return 1;
}

// read(fd): what is there, as a string; nil at the end of the file.
static int l_read(lua_State *L) {
  char text[4096];
  ssize_t size = read((int)luaL_checkinteger(L, 1), text, sizeof text);
  if (size < 0) return failure(L);
  if (size == 0) return 0;
  lua_pushlstring(L, text, (size_t)size);
  return 1;
}

// cut(): ends a TCP connection, without its owner's knowledge.
static int l_cut(lua_State *L) {
  struct sockaddr_storage peer;
  int fd;
  (void)L;
  for (fd = 0; fd < 1024; fd++) {
    socklen_t size = sizeof peer;
    if (getpeername(fd, (struct sockaddr *)&peer, &size) == 0 &&
        (peer.ss_family == AF_INET || peer.ss_family == AF_INET6)) {
      shutdown(fd, SHUT_RDWR);
      return 0;
    }
  }
  return luaL_error(L, "there is no connection");
}

int luaopen_epoll(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"add", l_add},   {"remove", l_remove}, {"wait", l_wait},
      {"read", l_read}, {"cut", l_cut},       {NULL, NULL},
  };
  const luaL_Reg *f;
  if (epoll < 0) epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) return failure(L);
  lua_newtable(L);
  for (f = functions; f->name; f++) {
    lua_pushcfunction(L, f->func);
    lua_setfield(L, -2, f->name);
  }
  return 1;
}
