/* The kinds of messages in a channel. */
#ifndef ZKLOCK_MESSAGES_H
#define ZKLOCK_MESSAGES_H

/* The commands that the Lua thread sends to the I/O thread. A command's subject
 * is an acquisition, unless its comment names another. COMMAND_ALARM and
 * COMMAND_CLOSE have no subject. */
enum command_kind {
  COMMAND_ACQUIRE,
  COMMAND_CANCEL,
  COMMAND_RELEASE,
  COMMAND_RELEASE_AND_REPORT, /* release, and post EVENT_GONE afterwards */
  COMMAND_ABANDON,            /* cancel a wait; release the lock if granted */
  COMMAND_LOSE,               /* end a hold that the Lua thread found lost */
  COMMAND_WATCH,              /* watch the hold's own node */
  COMMAND_WATCH_CONTENTION,   /* check for another contender in the queue */
  COMMAND_ALARM,              /* post EVENT_ALARM at core->alarm_at */
  COMMAND_ASK,                /* the subject is the ask */
  COMMAND_AWAIT,              /* the subject is the await */
  COMMAND_CANCEL_AWAIT,       /* the subject is the await */
  COMMAND_CLOSE,
};

/* The events that the I/O thread posts to the Lua thread. The subject of the
 * first five is the acquisition. Each later event has a subject only if its
 * comment names one. */
enum event_kind {
  EVENT_GRANTED,
  EVENT_REFUSED,
  EVENT_LOST,
  EVENT_REVOKED,
  /* Answers COMMAND_RELEASE_AND_REPORT: the node was deleted, or a server
   * refused to delete it. */
  EVENT_GONE,
  EVENT_ANSWERED, /* the subject is the ask */
  EVENT_AWAITED,  /* the subject is the await */
  EVENT_STATE,    /* the session has new states: see core_states */
  EVENT_FAILED,   /* `connect` can fail now: see core->failure */
  EVENT_LOG,      /* the subject is the log line */
  EVENT_ENDED,    /* the subject is the nginx request */
  EVENT_NUDGE,    /* sent by the Lua thread itself: see core_nudge */
  EVENT_ALARM,    /* the time core->alarm_at has come */
  EVENT_CLOSED,   /* the I/O thread has finished */
};

#endif
