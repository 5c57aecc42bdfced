/* Implements the module zklock.tls. It gives the core the functions of
 * io/tls.h. For the command `zklock check`, it opens TLS connections without
 * the core. */
#include <openssl/ssl.h>
#include <string.h>

#include "bind.h"
#include "certificate.h"
#include "context.h"
#include "link.h"
#include "lua/lua_compat.h"

#define LINK_TYPE "zklock.tls.link"

/* Pushes and returns a new userdata of the type `type`, filled with zeros. */
static void *new_object(lua_State *L, const char *type, size_t size) {
  void *object = compat_newuserdata(L, size);
  memset(object, 0, size);
  luaL_getmetatable(L, type);
  lua_setmetatable(L, -2);
  return object;
}

static const char *opt_field(lua_State *L, int index, const char *name) {
  lua_getfield(L, index, name);
  return luaL_optstring(L, -1, NULL); /* the table keeps the string */
}

static struct tls_files check_files(lua_State *L, int index) {
  luaL_checktype(L, index, LUA_TTABLE);
  struct tls_files files = {.ca = opt_field(L, index, "ca"),
                            .cert = opt_field(L, index, "cert"),
                            .key = opt_field(L, index, "key")};
  luaL_argcheck(L, files.ca && !files.cert == !files.key, index,
                "ca, or cert and key, are missing");
  return files;
}

static int push_fault(lua_State *L, const char *fault) {
  lua_pushnil(L);
  lua_pushstring(L, fault);
  return 2;
}

/* What `zklock check` shows of a certificate: the names that it is for, its
 * last valid day, and how many days are left. */
struct summary {
  char names[200], last_day[11];
  int days_left;
};

static struct summary summarize(X509 *certificate) {
  int seconds;
  struct summary summary = {.names = ""};
  const ASN1_TIME *end = X509_get0_notAfter(certificate);
  certificate_names(certificate, summary.names, sizeof summary.names);
  certificate_date(end, summary.last_day);
  ASN1_TIME_diff(&summary.days_left, &seconds, NULL, end);
  return summary;
}

/* Pushes the three values of the summary. Returns their number. */
static int push_summary(lua_State *L, const struct summary *summary) {
  lua_pushstring(L, summary->names);
  lua_pushstring(L, summary->last_day);
  lua_pushinteger(L, summary->days_left);
  return 3;
}

/* check{ ca =, cert =, key = } → true, names, last_day, days_left; or nil,
 * message
 *
 * Reads the files. If there is a `cert`, the results after `true` describe its
 * certificate: the names that it is for, its last valid day, and how many days
 * are left. If a file cannot be used, the message says why. */
static int check(lua_State *L) {
  char error[TLS_TEXT];
  struct tls_files files = check_files(L, 1);
  struct tls_context *context = link_module.read(&files, error);
  if (!context) return push_fault(L, error);
  X509 *own = SSL_CTX_get0_certificate(context->ssl);
  struct summary summary = own ? summarize(own) : (struct summary){.names = ""};
  link_module.release(context); /* first: a push can raise an error */
  lua_pushboolean(L, 1);
  return 1 + (files.cert ? push_summary(L, &summary) : 0);
}

/* Links. */

static struct tls_link **check_link(lua_State *L) {
  struct tls_link **link = luaL_checkudata(L, 1, LINK_TYPE);
  luaL_argcheck(L, *link, 1, "closed");
  return link;
}

/* link({ ca =, cert =, key = }, names) → link; or nil, message
 *
 * Creates a link to a server. `names` are names or addresses, separated by
 * spaces; the server's certificate must be for one of them. */
static int open_link(lua_State *L) {
  char error[TLS_TEXT];
  const char *names = luaL_checkstring(L, 2);
  struct tls_files files = check_files(L, 1);
  /* NOLINTNEXTLINE(bugprone-sizeof-expression): the size of a pointer */
  struct tls_link **link = new_object(L, LINK_TYPE, sizeof *link);
  struct tls_context *context = link_module.read(&files, error);
  if (!context) return push_fault(L, error);
  *link = link_module.open(context, names);
  link_module.release(context);
  return *link ? 1 : push_fault(L, "not enough memory");
}

static int push_state(lua_State *L, const struct tls_link *link,
                      enum tls_state state) {
  bool refused;
  static const char *const words[] = {"done", "waits", "ended"};
  if (state == TLS_FAILED)
    return push_fault(L, link_module.failure(link, &refused));
  lua_pushstring(L, words[state]);
  return 1;
}

/* link:handshake() → "done", or "waits"; or nil, message
 *
 * Continues the handshake. "waits" means that it needs more bytes from the
 * server. */
static int link_handshake(lua_State *L) {
  struct tls_link *link = *check_link(L);
  return push_state(L, link, link_module.handshake(link));
}

/* link:feed(text) → nothing
 *
 * Gives the link `text`, bytes that the server has sent. */
static int link_feed(lua_State *L) {
  size_t size;
  struct tls_link *link = *check_link(L);
  const char *data = luaL_checklstring(L, 2, &size);
  if (!link_module.feed(link, data, size))
    return luaL_error(L, "not enough memory");
  return 0;
}

/* link:drain() → the bytes that the caller must send to the server now */
static int link_drain(lua_State *L) {
  size_t size;
  struct tls_link *link = *check_link(L);
  const char *data = link_module.pending(link, &size);
  lua_pushlstring(L, data, size);
  link_module.sent(link, size);
  return 1;
}

/* link:send(text) → "done"; or nil, message
 *
 * Encrypts the text. The next link:drain returns the encrypted bytes. */
static int link_send(lua_State *L) {
  size_t size;
  struct tls_link *link = *check_link(L);
  const char *data = luaL_checklstring(L, 2, &size);
  luaL_argcheck(L, size <= TLS_RECORD, 2, "too long");
  return push_state(L, link, link_module.send(link, data, size));
}

/* link:receive() → decrypted text; or "", "waits"; or "", "ended"; or nil,
 * message
 *
 * "waits" means that the link needs more bytes from the server. "ended" means
 * that the server has ended the connection. */
static int link_receive(lua_State *L) {
  char data[4096];
  size_t got;
  struct tls_link *link = *check_link(L);
  enum tls_state state = link_module.receive(link, data, sizeof data, &got);
  if (state == TLS_FAILED) return push_state(L, link, state);
  lua_pushlstring(L, data, got);
  return 1 + (state == TLS_DONE ? 0 : push_state(L, link, state));
}

/* link:certificate() → names, last_day, days_left; or nothing
 *
 * Describes the server's certificate: the names that it is for, its last valid
 * day, and how many days are left. Returns nothing if the server has sent no
 * certificate. */
static int link_certificate(lua_State *L) {
  X509 *certificate = link_certificate_of(*check_link(L));
  if (!certificate) return 0;
  struct summary summary = summarize(certificate);
  X509_free(certificate); /* first: a push can raise an error */
  return push_summary(L, &summary);
}

static int link_close(lua_State *L) {
  struct tls_link **link = luaL_checkudata(L, 1, LINK_TYPE);
  if (*link) link_module.close(*link);
  *link = NULL;
  return 0;
}

static void new_link_type(lua_State *L) {
  static const luaL_Reg methods[] = {
      {"handshake", link_handshake}, {"feed", link_feed},
      {"drain", link_drain},         {"send", link_send},
      {"receive", link_receive},     {"certificate", link_certificate},
      {"close", link_close},         {NULL, NULL}};
  if (luaL_newmetatable(L, LINK_TYPE)) {
    lua_newtable(L);
    compat_setfuncs(L, methods);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, link_close);
    lua_setfield(L, -2, "__gc");
    lua_pushliteral(L, "zklock");
    lua_setfield(L, -2, "__metatable");
  }
  lua_pop(L, 1);
}

/* Pushes a userdata with a pointer to link_module. Through it, the core finds
 * the functions of io/tls.h. */
static void push_module(lua_State *L) {
  if (luaL_newmetatable(L, TLS_MODULE_TYPE)) {
    lua_pushliteral(L, "zklock");
    lua_setfield(L, -2, "__metatable");
  }
  lua_pop(L, 1);
  const struct tls_module **module =
      /* NOLINTNEXTLINE(bugprone-sizeof-expression): the size of a pointer */
      new_object(L, TLS_MODULE_TYPE, sizeof *module);
  *module = &link_module;
}

__attribute__((visibility("default"))) int luaopen_zklock_tls(lua_State *L) {
  static const luaL_Reg functions[] = {{"check", check},
                                       {"link", open_link},
                                       {NULL, NULL}};
  compat_checkversion(L);
  const char *fault = bind_openssl();
  if (fault) return luaL_error(L, "zklock.tls cannot be used: %s", fault);
  new_link_type(L);
  luaL_newlib(L, functions);
  push_module(L);
  lua_setfield(L, -2, "module");
  lua_pushstring(L, OpenSSL_version(OPENSSL_VERSION));
  lua_setfield(L, -2, "openssl");
  return 1;
}
