/* A hold reference: each guard of a hold has one. */
#ifndef ZKLOCK_LUA_HOLD_REF_H
#define ZKLOCK_LUA_HOLD_REF_H

#include "lua_binding.h"

#pragma GCC visibility push(hidden)

/* An acquisition is released with its last hold reference. A hold reference is
 * created empty, in a place that ensures its release, and filled later: a hook
 * may raise an error as soon as the creating function has returned. Before it
 * has an acquisition, it may wait in a local queue for the acquisition of
 * another hold reference. */
struct hold_ref {
  struct core *core;               /* NULL: empty */
  struct acquisition *acquisition; /* NULL: empty, or waits in a local queue */
  struct turn turn;
  bool live;   /* the hold reference counts */
  bool kept;   /* the hold was provable when it was released */
  bool last;   /* it was the last hold reference */
  bool passed; /* its acquisition was passed to another hold reference */
  bool dead;   /* collected: it must not be filled any more */
};

/* hold() → an empty hold reference */
int binding_new_hold_ref(lua_State *L);
/* Returns the hold reference at `index`. Raises an error if it has no
 * acquisition yet, as in a local queue. */
struct hold_ref *binding_check_hold_ref(lua_State *L, int index);
/* Returns the hold reference at `index` if it was ever granted, or raises an
 * error. */
struct hold_ref *binding_check_granted(lua_State *L, int index);
/* Returns the hold reference at `index` if it is empty or waits in a local
 * queue, or a new one. Leaves it on the top of the stack. */
struct hold_ref *binding_vacant_hold_ref(lua_State *L, int index);
/* Puts an empty hold reference into a local queue. */
void binding_stand_hold_ref(struct hold_ref *hold_ref, struct core *core,
                            int64_t deadline);
/* Fills a hold reference with the acquisition and takes over the caller's
 * reference. */
void binding_fill_hold_ref(struct hold_ref *hold_ref, struct core *core,
                           struct acquisition *acquisition);

void binding_register_hold_ref(lua_State *L);

#pragma GCC visibility pop

#endif
