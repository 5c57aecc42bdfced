/* Reads the options of a session from the Lua layer's table. The Lua layer has
 * already checked the users' arguments. */
#include <stdlib.h>
#include <string.h>

#include "io/tls.h"
#include "lua_binding.h"

/* The userdata owns the settings until the session takes them over. If an error
 * is raised before that, its finalizer frees the settings. */
static const struct object_type settings_type = {"zklock.settings"};

static char *copy_field(lua_State *L, int index, const char *name,
                        size_t *size) {
  size_t length;
  lua_getfield(L, index, name);
  const char *text = luaL_checklstring(L, -1, &length);
  char *copy = malloc(length + 1);
  if (copy) memcpy(copy, text, length + 1);
  if (size) *size = length;
  lua_pop(L, 1);
  return copy;
}

/* Pushes the field `name` of the table at `index`: a list or nil. Returns the
 * length of the list, or 0 for nil. */
static int push_list(lua_State *L, int index, const char *name) {
  lua_getfield(L, index, name);
  if (lua_isnil(L, -1)) return 0;
  luaL_checktype(L, -1, LUA_TTABLE);
  return (int)lua_rawlen(L, -1);
}

static bool read_credentials(lua_State *L, int index,
                             struct settings *settings) {
  int n = push_list(L, index, "auth");
  if (n > 0 && !(settings->credentials =
                     calloc((size_t)n, sizeof *settings->credentials)))
    return false;
  for (int i = 0; i < n; i++) {
    struct credential *c = &settings->credentials[i];
    lua_rawgeti(L, -1, i + 1);
    settings->credential_count = i + 1;
    c->scheme = copy_field(L, lua_gettop(L), "scheme", NULL);
    c->secret = copy_field(L, lua_gettop(L), "credential", &c->size);
    lua_pop(L, 1);
    if (!c->scheme || !c->secret) return false;
  }
  lua_pop(L, 1);
  return true;
}

/* Converts letters, such as "cdrwa", to ZooKeeper's bits. */
static int read_permissions(const char *letters) {
  static const char in_order[] = "rwcda"; /* of the bits */
  int bits = 0;
  for (int i = 0; in_order[i]; i++)
    if (strchr(letters, in_order[i])) bits |= 1 << i;
  return bits;
}

static bool read_acl(lua_State *L, int index, struct settings *settings) {
  int n = push_list(L, index, "acl");
  if (n > 0 && !(settings->acl = calloc((size_t)n, sizeof *settings->acl)))
    return false;
  for (int i = 0; i < n; i++) {
    struct acl_entry *entry = &settings->acl[i];
    lua_rawgeti(L, -1, i + 1);
    settings->acl_count = i + 1;
    entry->scheme = copy_field(L, lua_gettop(L), "scheme", NULL);
    entry->id = copy_field(L, lua_gettop(L), "id", NULL);
    lua_getfield(L, -1, "perms");
    entry->permissions = read_permissions(luaL_checkstring(L, -1));
    lua_pop(L, 2);
    if (!entry->scheme || !entry->id) return false;
  }
  lua_pop(L, 1);
  return true;
}

/* Copies the string in the field `name` of the table at `index` to `*copy`.
 * Does nothing if the field is nil. Returns false if there is no memory. */
static bool copy_opt_field(lua_State *L, int index, const char *name,
                           char **copy) {
  lua_getfield(L, index, name);
  bool is_there = !lua_isnil(L, -1);
  lua_pop(L, 1);
  if (is_there) *copy = copy_field(L, index, name, NULL);
  return !is_there || *copy;
}

/* Returns the functions of the module zklock.tls, from the field `module` of
 * the table at `index`. Raises an error if that module belongs to another
 * version of zklock. */
static const struct tls_module *check_module(lua_State *L, int index) {
  lua_getfield(L, index, "module");
  const struct tls_module *const *box = luaL_checkudata(L, -1, TLS_MODULE_TYPE);
  if ((*box)->magic != TLS_MAGIC || (*box)->version != TLS_VERSION)
    luaL_error(L, "zklock.tls is of another version of zklock");
  lua_pop(L, 1);
  return *box;
}

static bool read_tls(lua_State *L, int index, struct tls_settings *tls) {
  lua_getfield(L, index, "tls");
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    return true;
  }
  int at = lua_gettop(L);
  luaL_checktype(L, at, LUA_TTABLE);
  tls->module = check_module(L, at);
  tls->ca = copy_field(L, at, "ca", NULL);
  bool ok = tls->ca && copy_opt_field(L, at, "cert", &tls->cert) &&
            copy_opt_field(L, at, "key", &tls->key) &&
            copy_opt_field(L, at, "name", &tls->name);
  lua_pop(L, 1);
  return ok;
}

static void read_hosts(lua_State *L, int index, struct settings *settings) {
  char fault[256];
  lua_getfield(L, index, "hosts");
  if (!hosts_parse(&settings->hosts, luaL_checkstring(L, -1), fault,
                   sizeof fault))
    luaL_error(L, "%s", *fault ? fault : "not enough memory");
  lua_pop(L, 1);
}

static void read_times(lua_State *L, int index, struct settings *settings) {
  lua_getfield(L, index, "session_timeout");
  settings->session_timeout_ms = binding_to_int(luaL_checknumber(L, -1) * 1000);
  lua_getfield(L, index, "min_session_timeout");
  if (!lua_isnil(L, -1)) {
    int min_ms = binding_to_int(luaL_checknumber(L, -1) * 1000);
    settings->min_session_timeout_ms = min_ms > 0 ? min_ms : 1;
  }
  /* The tick time is rounded up; both session timeouts above are rounded
   * down. */
  lua_getfield(L, index, "tick_time");
  if (!lua_isnil(L, -1))
    settings->tick_time_ms =
        binding_to_int(luaL_checknumber(L, -1) * 1000 + 0.999);
  lua_pop(L, 3);
}

struct settings **binding_read_settings(lua_State *L, int index) {
  struct settings **box = /* NOLINTNEXTLINE: the size of a pointer */
      binding_new_object(L, &settings_type, sizeof *box);
  struct settings *settings = *box = calloc(1, sizeof **box);
  if (!settings) {
    luaL_error(L, "not enough memory");
    return NULL; /* luaL_error does not return */
  }
  read_hosts(L, index, settings);
  read_times(L, index, settings);
  lua_getfield(L, index, "log");
  settings->want_log = lua_toboolean(L, -1);
  lua_getfield(L, index, "doubts_acl");
  settings->acl_may_deny = lua_toboolean(L, -1);
  lua_pop(L, 2);
  if (!read_credentials(L, index, settings) || !read_acl(L, index, settings) ||
      !read_tls(L, index, &settings->tls))
    luaL_error(L, "not enough memory");
  return box;
}

static int settings_gc(lua_State *L) {
  struct settings **box = binding_test_object(L, 1, &settings_type);
  if (!box) return 0;
  settings_free(*box);
  *box = NULL;
  return 0;
}

void binding_register_settings(lua_State *L) {
  static const luaL_Reg none[] = {{NULL, NULL}};
  binding_new_type(L, &settings_type, none, settings_gc);
}
