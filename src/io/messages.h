/* The kinds of messages in a channel. */
#ifndef ZKLOCK_MESSAGES_H
#define ZKLOCK_MESSAGES_H

/* To the I/O thread. */
enum command_kind {
  COMMAND_ACQUIRE, /* subject: the acquisition */
  COMMAND_CANCEL,
  COMMAND_RELEASE,
  COMMAND_RELEASE_AND_TELL, /* EVENT_GONE is requested */
  COMMAND_ABANDON,          /* end a wait whose outcome is not wanted */
  COMMAND_LOSE,             /* the Lua thread saw lease or max_hold run out */
  COMMAND_WATCH,            /* watch the holder's own node */
  COMMAND_LOOK_AROUND,      /* is another contender in the queue? */
  COMMAND_ALARM,            /* see core->alarm_at */
  COMMAND_ASK,              /* subject: the ask */
  COMMAND_AWAIT,            /* subject: the await */
  COMMAND_AWAIT_NO_MORE,    /* subject: the await */
  COMMAND_CLOSE,
};

/* To the Lua thread. */
enum event_kind {
  EVENT_GRANTED, /* subject: the acquisition */
  EVENT_REFUSED,
  EVENT_LOST,
  EVENT_REVOKED,
  EVENT_GONE,     /* its node is known to be deleted */
  EVENT_ANSWERED, /* subject: the ask */
  EVENT_AWAITED,  /* subject: the await */
  EVENT_STATE,    /* see core_states */
  EVENT_FAILED,   /* see core->failure */
  EVENT_LOG,      /* subject: the log line */
  EVENT_ENDED,    /* subject: the nginx request */
  EVENT_NUDGE,    /* sent by the Lua thread: see core_nudge */
  EVENT_ALARM,    /* see core->alarm_at */
  EVENT_CLOSED,   /* the I/O thread has finished */
};

#endif
