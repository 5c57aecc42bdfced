/* A point is a place in the code where the scheduler can let another thread
 * run. The calling thread need not wait for anything there. */
#ifndef ZKLOCK_VIRTUAL_POINT_H
#define ZKLOCK_VIRTUAL_POINT_H

/* Marks a point. In exploring mode, the scheduler lets another thread run at
 * random points. In any mode, it does so after a thousand points without a wait
 * (schedule.h). */
void schedule_point(void) __attribute__((visibility("hidden")));

#endif
