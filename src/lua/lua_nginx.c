/* Implements the C part of the nginx adapter. One part is the socket that wakes
 * nginx's event loop. The other is the records of nginx requests, which report
 * when a request ends.
 *
 * This file uses no header of nginx or its Lua module. It looks up their
 * functions by name in the running program. The adapter also works if some of
 * these functions are missing. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "io/nginx_request.h"
#include "lua_binding.h"

static const struct object_type request_type = {"zklock.request"};

/* session:open_socket() → the path to connect to; or nil, message
 *
 * Opens the Unix socket to which nginx must connect: see nginx_socket.h. */
static int open_socket(lua_State *L) {
  struct core *core = binding_check_session(L);
  if (!nginx_socket_open(&core->nginx_socket)) {
    lua_pushnil(L);
    lua_pushstring(L, strerror(errno));
    return 2;
  }
  lua_pushstring(L, core->nginx_socket.path);
  return 1;
}

/* session:accept_socket() → true; or nil, message
 *
 * Accepts nginx's connection. From then on, the session wakes nginx through
 * this connection when there are events. */
static int accept_socket(lua_State *L) {
  struct core *core = binding_check_session(L);
  int fd = nginx_socket_accept(&core->nginx_socket);
  if (fd < 0 || !channel_redirect(&core->channel, fd)) {
    lua_pushnil(L);
    lua_pushstring(L, strerror(errno));
    return 2;
  }
  lua_pushboolean(L, true);
  return 1;
}

/* A copy of the struct ngx_http_cleanup_t in nginx's ngx_http_request.h, which
 * has not changed since 2006. */
struct cleanup {
  void (*handler)(void *data);
  void *data;
  struct cleanup *next;
};

static struct {
  struct cleanup *(*add)(void *request, size_t size);
  /* These two functions exist only in OpenResty's LuaJIT. */
  void *(*request_of)(lua_State *L);
  void **(*coroutine_of)(lua_State *L);
} host;

static void find(const char *name, void *function) {
  *(void **)function = dlsym(RTLD_DEFAULT, name);
}

static void find_host(void) {
  find("ngx_http_cleanup_add", &host.add);
  find("lua_getexdata", &host.request_of);
  find("lua_getexdata2", &host.coroutine_of);
}

static void *running_request(lua_State *L) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_host);
  return host.request_of ? host.request_of(L) : NULL;
}

/* Returns whether L is the Lua thread with which the nginx request began.
 * lua-nginx-module describes each coroutine by an array of pointers. The second
 * points to the coroutine. The third points to the description of its parent,
 * or is NULL. */
static bool is_entry(lua_State *L) {
  void **coroutine;
  if (lua_pushthread(L)) return true;
  lua_pop(L, 1);
  coroutine = host.coroutine_of ? host.coroutine_of(L) : NULL;
  return coroutine && coroutine[1] == L && !coroutine[2];
}

/* running() → request, is_entry; or nothing
 *
 * Returns the current nginx request as light userdata, and whether the request
 * began with the current Lua thread. Returns nothing if no request is known. */
int binding_running(lua_State *L) {
  void *request = running_request(L);
  if (!request) return 0;
  bool entry = is_entry(L);
  lua_pushlightuserdata(L, request);
  lua_pushboolean(L, entry);
  return 2;
}

static struct nginx_request *check_request(lua_State *L) {
  struct nginx_request **box = binding_check_object(L, 1, &request_type);
  if (!*box) luaL_error(L, "zklock: this request is empty");
  return *box;
}

/* session:request() → request, number; or nothing
 *
 * Creates a record of the current nginx request. Returns the record, and its
 * number, which is also in the event that reports the end of the request.
 * Returns nothing if there is no request, or if nginx cannot report the
 * request's end. */
static int new_request(lua_State *L) {
  binding_check_session(L);
  void *running = running_request(L);
  if (!running || !host.add) return 0;
  struct nginx_request **box = /* NOLINTNEXTLINE: the size of a pointer */
      binding_new_object(L, &request_type, sizeof *box);
  struct nginx_request *request = nginx_request_new(binding_check_session(L));
  if (!request) return luaL_error(L, "not enough memory");
  struct cleanup *cleanup = host.add(running, 0);
  if (!cleanup) {
    nginx_request_end(request);
    return luaL_error(L, "not enough memory");
  }
  cleanup->handler = nginx_request_end;
  cleanup->data = request;
  subject_keep(&request->subject);
  *box = request;
  lua_pushnumber(L, (lua_Number)request->number);
  return 2;
}

/* session:requests() → the number of unfinished nginx requests */
static int count_requests(lua_State *L) {
  lua_pushinteger(L, binding_check_session(L)->requests);
  return 1;
}

static int request_has_ended(lua_State *L) {
  lua_pushboolean(L, check_request(L)->ended);
  return 1;
}

static int request_gc(lua_State *L) {
  struct nginx_request **box = binding_test_object(L, 1, &request_type);
  if (!box || !*box) return 0;
  subject_drop(&(*box)->subject);
  *box = NULL;
  return 0;
}

void binding_register_nginx(lua_State *L) {
  static const luaL_Reg request[] = {{"has_ended", request_has_ended},
                                     {NULL, NULL}};
  static const luaL_Reg session[] = {{"open_socket", open_socket},
                                     {"accept_socket", accept_socket},
                                     {"request", new_request},
                                     {"requests", count_requests},
                                     {NULL, NULL}};
  binding_new_type(L, &request_type, request, request_gc);
  binding_add_methods(L, &session_type, session);
}
