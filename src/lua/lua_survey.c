/* Applies the protocol's rules to a list of contenders. Finds the order in
 * which they get the lock, and which of them hold it now. */
#include <stdlib.h>
#include <string.h>

#include "lua_binding.h"
#include "protocol/rule.h"

enum { ROLES = ROLE_MEMBER + 1 };

enum row_directory { AT_PATH, AT_LOCKS, AT_PERMITS };

/* A contender in the list. Its strings belong to the contender's Lua table.
 * They stay valid, because no Lua code runs while the rows are in use. */
struct row {
  int index; /* the index of the row's table in the list */
  enum row_directory directory;
  enum role role;
  int32_t sequence;
  bool owned; /* a session owns the node; if not, it holds nothing */
  const char *name, *token, *session;
};

/* Returns the string in the field `key` of the table on the top of the stack.
 * If the field is nil, returns `unknown`, or raises an error if `unknown` is
 * NULL. Does not convert a number to a string: no table would keep that string,
 * so Lua could collect it. Ignores metamethods for the same reason. */
static const char *text_field(lua_State *L, const char *key,
                              const char *unknown) {
  lua_pushstring(L, key);
  lua_rawget(L, -2);
  if (unknown && lua_isnil(L, -1)) {
    lua_pop(L, 1);
    return unknown;
  }
  luaL_checktype(L, -1, LUA_TSTRING);
  const char *text = lua_tostring(L, -1);
  lua_pop(L, 1);
  return text;
}

/* Used in place of the values of a node that this session may not read. No
 * session has the id UNKNOWN_SESSION, and UNKNOWN_TOKEN sorts after all
 * tokens. */
#define UNKNOWN_SESSION "?"
#define UNKNOWN_TOKEN "~"

/* Fills the row from the table on the top of the stack. This table is the
 * element `index` of the list. */
static void read_row(lua_State *L, struct row *row, int index) {
  luaL_checktype(L, -1, LUA_TTABLE);
  const char *node = text_field(L, "node", NULL);
  row->index = index;
  const char *of_gate = path_name_in(node, LOCKS);
  const char *of_permit = path_name_in(node, PERMITS);
  row->directory = of_gate ? AT_LOCKS : of_permit ? AT_PERMITS : AT_PATH;
  row->name = of_gate ? of_gate : of_permit ? of_permit : node;
  row->sequence = 0;
  row->role = name_parse(row->name, &row->sequence);
  row->token = text_field(L, "token", UNKNOWN_TOKEN);
  row->session = text_field(L, "session", UNKNOWN_SESSION);
  row->owned = strcmp(row->session, "0x0") != 0;
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

static struct entry entry_of(const struct row *row) {
  return (struct entry){.name = row->name,
                        .sequence = row->sequence,
                        .role = row->role};
}

static int by_number_and_place(const void *a, const void *b) {
  const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;
  if (x->sequence != y->sequence) return x->sequence < y->sequence ? -1 : 1;
  return x < y ? -1 : x > y;
}

static void append(struct listing *listing, const struct row *row) {
  listing->entries[listing->count++] = entry_of(row);
  if (row->sequence < 0) listing->wrapped = true;
}

/* Returns whether the sequence numbers of the rows show the order of the
 * contenders. Near the end of ZooKeeper's counter, they may not (name.h). */
static bool is_ordered(struct listing *listing, const struct row *rows, int n) {
  listing->count = 0;
  listing->wrapped = false;
  for (int i = 0; i < n; i++) append(listing, &rows[i]);
  for (int i = 0; i < n; i++)
    if (listing_is_disordered(listing, &listing->entries[i])) return false;
  return true;
}

/* Replaces the sequence numbers of the sorted rows by numbers that show their
 * order. A row's new number is the index of the first row with the same old
 * number. So a reader that has downgraded keeps the same number as its writer.
 * `by_number` must have room for all rows. */
static void renumber(struct row *rows, struct row **by_number, int n) {
  for (int i = 0; i < n; i++) by_number[i] = &rows[i];
  /* NOLINTNEXTLINE(bugprone-sizeof-expression): it is pointers that move */
  qsort(by_number, (size_t)n, sizeof *by_number, by_number_and_place);
  int last = 0, place = 0;
  for (int i = 0; i < n; i++) {
    struct row *row = by_number[i];
    if (i == 0 || row->sequence != last) place = (int)(row - rows);
    last = row->sequence;
    row->sequence = place;
  }
}

/* Sorts the rows in the order of the queue. Returns whether their sequence
 * numbers show that order. If they do not, sorts the rows by token, and
 * renumbers them. */
static bool sort(struct listing *listing, struct row *rows,
                 struct row **by_number, int n) {
  qsort(rows, (size_t)n, sizeof *rows, by_sequence);
  if (is_ordered(listing, rows, n)) return true;
  qsort(rows, (size_t)n, sizeof *rows, by_token);
  renumber(rows, by_number, n);
  return false;
}

static bool is_known(const struct row *row) {
  return strcmp(row->session, UNKNOWN_SESSION) != 0;
}

/* Returns the session that owns the first node of a semaphore's directory
 * locks/. That session can already have a node in permits/, but does not hold a
 * permit yet. Returns "" if there is no such node, or if zklock may not read
 * it. */
static const char *inside(const struct row *rows, int n) {
  for (int i = 0; i < n; i++)
    if (rows[i].directory == AT_LOCKS)
      return is_known(&rows[i]) ? rows[i].session : "";
  return "";
}

/* For each role, the contender with the least number among the rows so far.
 * Only rows in the path's own directory count. If none of these contenders
 * blocks the next row, no earlier row blocks it. So the rule compares a row
 * only with these, in constant time, whatever the number of rows. */
struct front {
  struct entry least[ROLES];
  bool any[ROLES];
};

static bool holds_after(const struct front *front, const struct row *row,
                        struct listing *listing) {
  listing->count = 0;
  for (int role = 0; role < ROLES; role++)
    if (front->any[role])
      listing->entries[listing->count++] = front->least[role];
  append(listing, row);
  return rule_holds(listing, &listing->entries[listing->count - 1]);
}

static void pass(struct front *front, const struct row *row) {
  bool *any = &front->any[row->role];
  struct entry *least = &front->least[row->role];
  if (!*any || row->sequence < least->sequence) *least = entry_of(row);
  *any = true;
}

static bool holds(struct front *front, const struct row *row,
                  const char *first_inside, struct listing *listing) {
  if (row->directory == AT_PERMITS)
    return row->owned && strcmp(row->session, first_inside) != 0;
  if (row->directory == AT_LOCKS) return false;
  bool is_holder = row->owned && holds_after(front, row, listing);
  pass(front, row);
  return is_holder;
}

/* survey(rows) → the rows in the order of the queue; is_ordered
 *
 * Sets the field `holds` of each row: whether this contender holds the lock.
 * `is_ordered`: whether the sequence numbers of the rows show the order. Reads
 * the fields `node`, `token` and `session` of each row. */
int binding_survey(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  int n = (int)lua_rawlen(L, 1);
  struct row *rows = lua_newuserdata(L, (size_t)(n + 1) * sizeof *rows);
  /* NOLINTNEXTLINE(bugprone-sizeof-expression): room for pointers */
  size_t room = (size_t)(n + 1) * sizeof(struct row *);
  struct row **by_number = lua_newuserdata(L, room);
  struct listing *listing =
      lua_newuserdata(L, sizeof *listing +
                             (size_t)(n + ROLES) * sizeof *listing->entries);
  for (int i = 0; i < n; i++) {
    lua_rawgeti(L, 1, i + 1);
    luaL_checktype(L, -1, LUA_TTABLE);
    read_row(L, &rows[i], i + 1);
    lua_pop(L, 1);
  }
  bool ordered = sort(listing, rows, by_number, n);
  const char *first = inside(rows, n);
  struct front front = {.any = {false}};
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    lua_rawgeti(L, 1, rows[i].index);
    lua_pushliteral(L, "holds");
    lua_pushboolean(L, holds(&front, &rows[i], first, listing));
    lua_rawset(L, -3);
    lua_rawseti(L, -2, i + 1);
  }
  lua_pushboolean(L, ordered);
  return 2;
}

/* own_data(data) → the part of a node's data that the owner of the node has
 * written */
int binding_own_data(lua_State *L) {
  size_t size;
  const char *data = luaL_checklstring(L, 1, &size);
  lua_pushlstring(L, data, data_own_size(data, size));
  return 1;
}
