/* A share of a hold: each guard has one. */
#ifndef ZKLOCK_LUA_SHARE_H
#define ZKLOCK_LUA_SHARE_H

#include "lua_binding.h"

#pragma GCC visibility push(hidden)

/* The claim is released with its last share. A share is created empty, in a
 * place that ensures its release, and filled later: a hook may raise an error
 * as soon as the creating function has returned. Before it has a claim it may
 * wait in a local queue for the claim of another share. */
struct share {
  struct core *core;   /* NULL: empty */
  struct claim *claim; /* NULL: empty, or waits in a local queue */
  struct turn turn;
  bool live;   /* the share counts */
  bool kept;   /* the hold was provable when it was released */
  bool last;   /* it was the last share */
  bool passed; /* its claim was passed to another share */
  bool dead;   /* collected: it must not be filled any more */
};

/* hold() → an empty share */
int binding_new_share(lua_State *L);
/* Returns the share at `index`. Raises an error if it has no claim yet, as in a
 * local queue. */
struct share *binding_check_share(lua_State *L, int index);
/* Returns it if it was ever granted, or raises an error. */
struct share *binding_check_granted(lua_State *L, int index);
/* Returns the share at `index` if it is empty or waits in a local queue, or a
 * new one. Leaves it on the top of the stack. */
struct share *binding_vacant_share(lua_State *L, int index);
/* Puts an empty share into a local queue. */
void binding_stand_share(struct share *share, struct core *core,
                         int64_t deadline);
/* Fills a share with the claim and takes over the caller's reference. */
void binding_fill_share(struct share *share, struct core *core,
                        struct claim *claim);

void binding_register_share(lua_State *L);

#pragma GCC visibility pop

#endif
