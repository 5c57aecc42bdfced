/* A point is a place in the code where the scheduler can switch threads
 * although the caller does not wait. */
#ifndef ZKLOCK_VIRTUAL_POINT_H
#define ZKLOCK_VIRTUAL_POINT_H

/* Marks a point. In exploring mode, the thread hands over to another thread at
 * random points. In any mode, it hands over after a thousand points without a
 * wait (schedule.h). */
void schedule_point(void) __attribute__((visibility("hidden")));

#endif
