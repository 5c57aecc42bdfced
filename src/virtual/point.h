/* Where another thread may run, though nothing waits. */
#ifndef ZKLOCK_VIRTUAL_POINT_H
#define ZKLOCK_VIRTUAL_POINT_H

/* It does by chance in exploring mode; and a thread that has passed a thousand of
 * these without a wait hands over in any mode (schedule.h). */
void schedule_point(void) __attribute__((visibility("hidden")));

#endif
