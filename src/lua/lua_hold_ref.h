/* Declares hold references. A hold reference is the userdata by which a guard
 * refers to its hold. */
#ifndef ZKLOCK_LUA_HOLD_REF_H
#define ZKLOCK_LUA_HOLD_REF_H

#include "lua_binding.h"

#pragma GCC visibility push(hidden)

/* A guard's reference to its acquisition. When the last hold reference of an
 * acquisition is released, the acquisition is released, too.
 *
 * A hold reference is created empty, for this reason. A debug hook can raise an
 * error after an acquisition has started, but before its caller has stored the
 * reference. Then the lock would be held until Lua collects the reference. So
 * the caller first stores an empty reference in a place where its release is
 * ensured. Then it starts the acquisition, which fills the reference.
 *
 * A hold reference without an acquisition can also wait in a local queue. When
 * its turn comes, it takes over the acquisition of another hold reference. */
struct hold_ref {
  struct core *core;               /* NULL: the hold reference is empty */
  struct acquisition *acquisition; /* NULL: empty, or in a local queue */
  struct turn turn;
  bool live;   /* this reference is in use: not released yet */
  bool kept;   /* the hold was not lost before its release */
  bool last;   /* this was the last reference to the hold */
  bool passed; /* the release passed the hold to another reference */
  bool dead;   /* this reference was finalized: never fill it */
};

/* Lua function hold(): returns an empty hold reference. */
int binding_new_hold_ref(lua_State *L);
/* Returns the hold reference at `index`. Raises an error if it has no
 * acquisition, because it is empty or waits in a local queue. */
struct hold_ref *binding_check_hold_ref(lua_State *L, int index);
/* Returns the hold reference at `index`. Raises an error if its acquisition was
 * never granted; a granted one can have ended since. */
struct hold_ref *binding_check_granted(lua_State *L, int index);
/* Pushes and returns the hold reference at `index`, which must be empty or wait
 * in a local queue. If the argument is missing or nil, pushes and returns a new
 * hold reference. */
struct hold_ref *binding_vacant_hold_ref(lua_State *L, int index);
/* Makes an empty hold reference wait in a local queue of the session `core`, at
 * most until the deadline. */
void binding_begin_local_wait(struct hold_ref *hold_ref, struct core *core,
                              int64_t deadline);
/* Stores the acquisition in the hold reference. The hold reference takes over
 * the caller's reference to the acquisition. */
void binding_fill_hold_ref(struct hold_ref *hold_ref, struct core *core,
                           struct acquisition *acquisition);

void binding_register_hold_ref(lua_State *L);

#pragma GCC visibility pop

#endif
