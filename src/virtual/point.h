/* A point at which the scheduler can switch to another thread although the
 * caller does not wait. */
#ifndef ZKLOCK_VIRTUAL_POINT_H
#define ZKLOCK_VIRTUAL_POINT_H

/* Hands over to another thread at random points, in exploring mode. In any mode
 * a thread hands over after a thousand points without a wait (schedule.h). */
void schedule_point(void) __attribute__((visibility("hidden")));

#endif
