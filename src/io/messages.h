/* The kinds of messages in a channel. */
#ifndef ZKLOCK_MESSAGES_H
#define ZKLOCK_MESSAGES_H

/* Commands, to the I/O thread. Their subject is the acquisition unless noted.
 * COMMAND_ALARM and COMMAND_CLOSE have none. */
enum command_kind {
  COMMAND_ACQUIRE,
  COMMAND_CANCEL,
  COMMAND_RELEASE,
  COMMAND_RELEASE_AND_TELL, /* release, and post EVENT_GONE afterwards */
  COMMAND_ABANDON,          /* cancel a wait; release the lock if granted */
  COMMAND_LOSE,             /* end a hold: its lease or max_hold ran out */
  COMMAND_WATCH,            /* watch the hold's own node */
  COMMAND_LOOK_AROUND,      /* check for another contender in the queue */
  COMMAND_ALARM,            /* post EVENT_ALARM at core->alarm_at */
  COMMAND_ASK,              /* subject: the ask */
  COMMAND_AWAIT,            /* subject: the await */
  COMMAND_AWAIT_NO_MORE,    /* subject: the await */
  COMMAND_CLOSE,
};

/* Events, to the Lua thread. The subject of the first five is the acquisition.
 * Later ones have a subject only if it is noted. */
enum event_kind {
  EVENT_GRANTED,
  EVENT_REFUSED,
  EVENT_LOST,
  EVENT_REVOKED,
  EVENT_GONE,     /* the node was deleted, or cannot be deleted */
  EVENT_ANSWERED, /* subject: the ask */
  EVENT_AWAITED,  /* subject: the await */
  EVENT_STATE,    /* new states: see core_states */
  EVENT_FAILED,   /* `connect` can fail now: see core->failure */
  EVENT_LOG,      /* subject: the log line */
  EVENT_ENDED,    /* subject: the nginx request */
  EVENT_NUDGE,    /* sent by the Lua thread itself: see core_nudge */
  EVENT_ALARM,    /* core->alarm_at has come */
  EVENT_CLOSED,   /* the I/O thread has finished */
};

#endif
