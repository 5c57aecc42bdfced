/* Memory that runs out on purpose: the n-th allocation fails, once.
 *
 * Linked into a build of the module with the linker's --wrap (see
 * spec/memory/run), so that all allocations of ours and none of the libraries'
 * pass here; Lua's pass here while they are counted.  In Lua:
 *
 *     allocator.arm("c" | "lua", n)      the n-th from now on fails
 *     allocator.arm("at", place)         the next one at this place of ours
 *     allocator.disarm()                 → has it failed?, how many there were
 *     allocator.place()                  where ours did: for addr2line
 *     allocator.live()                   blocks of ours not freed yet
 *     allocator.spared()                 → the places that have allocated often,
 *                                        and never failed: { [place] = text } */
#include <dlfcn.h>
#include <lauxlib.h>
#include <lua.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *block);

#pragma GCC visibility push(hidden)

/* Ours: two threads at least. */

enum { SITES = 256 };

static _Atomic long countdown;  /* 0: not armed */
static _Atomic int target = -1; /* the number of a site; -1: none */
static _Atomic long counted, live;
static _Atomic bool failed;
static _Atomic uintptr_t failed_at;
static struct site {
  _Atomic uintptr_t address;
  _Atomic int times; /* while armed */
  _Atomic bool failed;
} sites[SITES];

static struct site *site_of(void *address) {
  uintptr_t wanted = (uintptr_t)address;
  for (int i = 0; i < SITES; i++) {
    uintptr_t none = 0;
    if (sites[i].address == wanted) return &sites[i];
    if (atomic_compare_exchange_strong(&sites[i].address, &none, wanted))
      return &sites[i];
    if (none == wanted) return &sites[i];
  }
  abort();
}

static bool refuse(void *address) {
  struct site *site = site_of(address);
  int aimed_at = (int)(site - sites);
  counted++;
  if (!atomic_compare_exchange_strong(&target, &aimed_at, -1)) {
    if (countdown <= 0) return false;
    site->times++;
    if (--countdown != 0) return false;
  }
  site->failed = failed = true;
  failed_at = site->address;
  return true;
}

static void *count_live(void *block) {
  if (block) live++;
  return block;
}

#define CALLER __builtin_return_address(0)

void *__wrap_malloc(size_t size) {
  return refuse(CALLER) ? NULL : count_live(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size) {
  return refuse(CALLER) ? NULL : count_live(__real_calloc(count, size));
}

char *__wrap_strdup(const char *text) {
  return refuse(CALLER) ? NULL : count_live(__real_strdup(text));
}

void *__wrap_realloc(void *block, size_t size) {
  if (refuse(CALLER)) return NULL;
  void *moved = __real_realloc(block, size);
  if (!block) count_live(moved);
  return moved;
}

void __wrap_free(void *block) {
  if (block) live--;
  __real_free(block);
}

/* Lua's. */

static lua_Alloc allocate;
static void *allocate_data;
static long lua_countdown, lua_counted;
static bool lua_failed;
static struct {
  void *block;
  size_t size; /* 0: none */
} refused;

/* From 5.2 on Lua collects all garbage and tries once more. */
static bool is_retry(void *block, size_t size) {
  bool same = refused.size == size && refused.block == block;
  refused.size = 0;
  return same;
}

static void *lua_allocate(void *data, void *block, size_t old, size_t size) {
  (void)data;
  if (size > 0 && (!block || size > old)) {
    lua_counted++;
    if (is_retry(block, size)) return NULL;
    if (lua_countdown > 0 && --lua_countdown == 0) {
      refused.block = block;
      refused.size = LUA_VERSION_NUM >= 502 ? size : 0;
      lua_failed = true;
      return NULL;
    }
  }
  return allocate(allocate_data, block, old, size);
}

static void let_lua_be(lua_State *L) {
  if (!allocate) return;
  lua_setallocf(L, allocate, allocate_data);
  allocate = NULL;
  refused.size = 0;
  lua_countdown = 0;
}

static int arm(lua_State *L) {
  static const char *const kinds[] = {"c", "lua", "at", NULL};
  int kind = luaL_checkoption(L, 1, NULL, kinds);
  long n = (long)luaL_checknumber(L, 2);
  let_lua_be(L);
  counted = lua_counted = 0;
  failed = lua_failed = false;
  if (kind == 0) {
    countdown = n;
  } else if (kind == 2) {
    target = (int)n;
  } else {
    allocate = lua_getallocf(L, &allocate_data);
    lua_countdown = n;
    lua_setallocf(L, lua_allocate, NULL);
  }
  return 0;
}

static int disarm(lua_State *L) {
  bool was_lua = allocate != NULL;
  let_lua_be(L);
  countdown = 0;
  target = -1;
  lua_pushboolean(L, was_lua ? lua_failed : failed);
  lua_pushnumber(L, (lua_Number)(was_lua ? lua_counted : counted));
  return 2;
}

static void push_place(lua_State *L, uintptr_t address) {
  Dl_info info;
  if (dladdr((void *)address, &info)) address -= (uintptr_t)info.dli_fbase;
  lua_pushfstring(L, "core.so+%p", (void *)address);
}

static int place(lua_State *L) {
  push_place(L, failed_at);
  return 1;
}

static int count(lua_State *L) {
  lua_pushnumber(L, (lua_Number)live);
  return 1;
}

static int spared(lua_State *L) {
  lua_newtable(L);
  for (int i = 0; i < SITES && sites[i].address; i++) {
    if (sites[i].failed || sites[i].times < 10) continue;
    push_place(L, sites[i].address);
    lua_rawseti(L, -2, i);
  }
  return 1;
}

#pragma GCC visibility pop

__attribute__((visibility("default"))) int luaopen_allocator(lua_State *L) {
  static const struct {
    const char *name;
    lua_CFunction function;
  } functions[] = {{"arm", arm},
                   {"disarm", disarm},
                   {"place", place},
                   {"live", count},
                   {"spared", spared}};
  lua_newtable(L);
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    lua_pushcfunction(L, functions[i].function);
    lua_setfield(L, -2, functions[i].name);
  }
  return 1;
}
