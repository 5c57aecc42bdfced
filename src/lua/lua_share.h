/* One share of what a session holds: what a guard is made of. */
#ifndef ZKLOCK_LUA_SHARE_H
#define ZKLOCK_LUA_SHARE_H

#include "lua_binding.h"

#pragma GCC visibility push(hidden)

/* The claim is given back when its last share is.  A share is born empty, where
 * its end can be seen to, and then filled, for a hook may raise as soon as the
 * function has returned.  Until it is filled it may stand in a line, and wait for
 * the claim of another share. */
struct share {
  struct core *core;   /* NULL: empty */
  struct claim *claim; /* NULL: empty, or it stands in a line */
  struct turn turn;
  bool live;   /* this share counts */
  bool kept;   /* when it was released, the hold was provable */
  bool last;   /* and no other share was left */
  bool passed; /* and another has the claim now */
  bool dead;   /* collected: what it were given now, nobody would give back */
};

/* hold() → an empty share */
int binding_new_share(lua_State *L);
/* The one at `index`, filled; or raises.  (One that stands in a line is not.) */
struct share *binding_check_share(lua_State *L, int index);
/* The same, if it has been granted, whatever became of it. */
struct share *binding_check_granted(lua_State *L, int index);
/* The one at `index` that is empty or stands in a line, or a new one; it is left on
 * top. */
struct share *binding_vacant_share(lua_State *L, int index);
/* An empty share stands in a line from now on. */
void binding_stand_share(struct share *share, struct core *core,
                         int64_t deadline);
/* With one more share of the claim, whose reference becomes the share's. */
void binding_fill_share(struct share *share, struct core *core,
                        struct claim *claim);

void binding_register_share(lua_State *L);

#pragma GCC visibility pop

#endif
