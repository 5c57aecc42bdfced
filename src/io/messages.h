/* What the messages of a channel say. */
#ifndef ZKLOCK_MESSAGES_H
#define ZKLOCK_MESSAGES_H

/* To the I/O thread. */
enum command_kind {
  COMMAND_ACQUIRE, /* subject: the claim */
  COMMAND_CANCEL,
  COMMAND_RELEASE,
  COMMAND_RELEASE_AND_TELL, /* EVENT_GONE is wanted */
  COMMAND_ABANDON,          /* a wait that nobody waits for any more */
  COMMAND_LOSE,             /* the Lua thread has seen that it is overdue */
  COMMAND_WATCH,            /* the holder's own watch is wanted */
  COMMAND_LOOK_AROUND,      /* does anybody else stand in the queue? */
  COMMAND_ALARM,            /* see core->alarm_at */
  COMMAND_ASK,              /* subject: the ask */
  COMMAND_AWAIT,            /* subject: what is awaited */
  COMMAND_AWAIT_NO_MORE,    /* likewise */
  COMMAND_CLOSE,
};

/* To the Lua thread. */
enum event_kind {
  EVENT_GRANTED, /* subject: the claim */
  EVENT_REFUSED,
  EVENT_LOST,
  EVENT_REVOKED,
  EVENT_GONE,     /* its node is known to be removed */
  EVENT_ANSWERED, /* subject: the ask */
  EVENT_AWAITED,  /* subject: what was awaited */
  EVENT_STATE,    /* see core_states */
  EVENT_FAILED,   /* see core->failure */
  EVENT_LOG,      /* subject: the log line */
  EVENT_ENDED,    /* subject: nginx's request */
  EVENT_NUDGE,    /* the Lua thread's own: see core_nudge */
  EVENT_ALARM,    /* see core->alarm_at */
  EVENT_CLOSED,   /* the I/O thread is done */
};

#endif
