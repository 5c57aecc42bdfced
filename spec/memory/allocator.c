/* Memory that runs out on purpose: the n-th allocation fails, once.
 *
 * Linked into a build of the module with the linker's --wrap (see
 * spec/memory/run), so that all allocations of ours and none of the libraries'
 * pass here; Lua's pass here while they are counted.  In Lua:
 *
 *     allocator.arm("c" | "lua", n)      the n-th from now on fails
 *     allocator.disarm()                 → has it failed?, how many there were
 *     allocator.place()                  where ours did: for addr2line
 *     allocator.live()                   blocks of ours not freed yet */
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

static _Atomic long countdown; /* 0: not armed */
static _Atomic long counted, live;
static _Atomic bool failed;
static _Atomic uintptr_t failed_at;

static bool refuse(void *address) {
  counted++;
  if (countdown <= 0 || --countdown != 0) return false;
  failed = true;
  failed_at = (uintptr_t)address;
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
  static const char *const kinds[] = {"c", "lua", NULL};
  int kind = luaL_checkoption(L, 1, NULL, kinds);
  long n = (long)luaL_checknumber(L, 2);
  let_lua_be(L);
  counted = lua_counted = 0;
  failed = lua_failed = false;
  if (kind == 0) {
    countdown = n;
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
  lua_pushboolean(L, was_lua ? lua_failed : failed);
  lua_pushnumber(L, (lua_Number)(was_lua ? lua_counted : counted));
  return 2;
}

static int place(lua_State *L) {
  Dl_info info;
  uintptr_t address = failed_at;
  if (dladdr((void *)address, &info)) address -= (uintptr_t)info.dli_fbase;
  lua_pushfstring(L, "core.so+%p", (void *)address);
  return 1;
}

static int count(lua_State *L) {
  lua_pushnumber(L, (lua_Number)live);
  return 1;
}

#pragma GCC visibility pop

__attribute__((visibility("default"))) int luaopen_allocator(lua_State *L) {
  static const luaL_Reg functions[] = {{"arm", arm},
                                       {"disarm", disarm},
                                       {"place", place},
                                       {"live", count}};
  lua_newtable(L);
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    lua_pushcfunction(L, functions[i].func);
    lua_setfield(L, -2, functions[i].name);
  }
  return 1;
}
