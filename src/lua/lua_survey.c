/* What a list of contenders means: their order, and who of them holds, by the
 * rules that the protocol itself goes by. */
#include "lua_survey.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/rule.h"

enum directory { AT_PATH, AT_LOCKS, AT_PERMITS };

/* One of the list.  Its texts are those of the table, which keeps them. */
struct row {
  int index; /* in the table */
  enum directory directory;
  enum role role;
  int32_t sequence;
  int rank; /* the first in the list that has the same number */
  const char *name, *token, *session;
};

static const char *text_field(lua_State *L, const char *key) {
  lua_getfield(L, -1, key);
  const char *text = luaL_checkstring(L, -1);
  lua_pop(L, 1);
  return text;
}

static bool is_below(const char *node, const char *directory) {
  size_t length = strlen(directory + 1);
  return strncmp(node, directory + 1, length) == 0 && node[length] == '/';
}

/* From the table on top. */
static void read_row(lua_State *L, struct row *row, int index) {
  const char *node = text_field(L, "node");
  row->index = index;
  row->directory = is_below(node, LOCKS)     ? AT_LOCKS
                   : is_below(node, PERMITS) ? AT_PERMITS
                                             : AT_PATH;
  row->name = row->directory == AT_PATH ? node : strchr(node, '/') + 1;
  row->sequence = row->rank = 0;
  row->role = name_parse(row->name, &row->sequence);
  row->token = text_field(L, "token");
  row->session = text_field(L, "session");
}

static int by_token(const void *a, const void *b) {
  const struct row *x = a, *y = b;
  return strcmp(x->token, y->token);
}

static int by_sequence(const void *a, const void *b) {
  const struct row *x = a, *y = b;
  if (x->sequence == y->sequence) return by_token(a, b);
  return x->sequence < y->sequence ? -1 : 1;
}

static void append(struct listing *listing, const struct row *row) {
  struct entry *entry = &listing->entries[listing->count++];
  entry->name = row->name;
  entry->sequence = row->sequence;
  entry->role = row->role;
  if (row->sequence < 0) listing->wrapped = true;
}

/* Do the numbers tell the order? */
static bool is_ordered(struct listing *listing, const struct row *rows, int n) {
  listing->count = 0;
  listing->wrapped = false;
  for (int i = 0; i < n; i++) append(listing, &rows[i]);
  for (int i = 0; i < n; i++)
    if (!listing_orders(listing, &listing->entries[i])) return false;
  return true;
}

/* Numbers that tell the order, in place of those that do not.  A reader keeps
 * that of the writer that it was. */
static void renumber(struct row *rows, int n) {
  for (int i = 0; i < n; i++)
    while (rows[rows[i].rank].sequence != rows[i].sequence) rows[i].rank++;
  for (int i = 0; i < n; i++) rows[i].sequence = rows[i].rank;
}

static void sort(struct listing *listing, struct row *rows, int n) {
  qsort(rows, (size_t)n, sizeof *rows, by_sequence);
  if (is_ordered(listing, rows, n)) return;
  qsort(rows, (size_t)n, sizeof *rows, by_token);
  renumber(rows, n);
}

/* Whoever is first in locks/ may own a permit that it is still waiting with. */
static const char *inside(const struct row *rows, int n) {
  for (int i = 0; i < n; i++)
    if (rows[i].directory == AT_LOCKS) return rows[i].session;
  return "";
}

/* survey(rows) → them in order, each with `holds`; their `node`, `token` and
 * `session` are read */
int binding_survey(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  int n = (int)lua_rawlen(L, 1);
  struct row *rows = lua_newuserdata(L, (size_t)(n + 1) * sizeof *rows);
  struct listing *listing =
      lua_newuserdata(L,
                      sizeof *listing + (size_t)n * sizeof *listing->entries);
  for (int i = 0; i < n; i++) {
    lua_rawgeti(L, 1, i + 1);
    read_row(L, &rows[i], i + 1);
    lua_pop(L, 1);
  }
  sort(listing, rows, n);
  const char *first = inside(rows, n);
  listing->count = 0;
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    bool holds =
        rows[i].directory == AT_PERMITS && strcmp(rows[i].session, first) != 0;
    if (rows[i].directory == AT_PATH) {
      append(listing, &rows[i]);
      holds = rule_holds(listing, &listing->entries[listing->count - 1]);
    }
    lua_rawgeti(L, 1, rows[i].index);
    lua_pushboolean(L, holds);
    lua_setfield(L, -2, "holds");
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/* own_data(data) → what of a node's data is its owner's own */
int binding_own_data(lua_State *L) {
  size_t size;
  const char *data = luaL_checklstring(L, 1, &size);
  lua_pushlstring(L, data, data_own_size(data, size));
  return 1;
}

/* marked_data(data) → the same data, by which a holder is asked to let go */
int binding_marked_data(lua_State *L) {
  size_t size;
  const char *data = luaL_checklstring(L, 1, &size);
  lua_settop(L, 1);
  if (data_is_revoked(data, size)) return 1;
  lua_pushliteral(L, REVOKE_MARK);
  lua_concat(L, 2);
  return 1;
}
