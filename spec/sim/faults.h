/* What may go wrong.  A schedule draws some of these classes, and then when
 * and to whom they happen. */
#ifndef SIM_FAULTS_H
#define SIM_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

struct world;
struct process;

/* These happen at a moment: each with what it does, to process `p`, or to the
 * one that is `chosen`. */
#define STRIKES(X)                                                             \
  X(CUT, "cut", cut(w, p, SILENT))     /* a connection breaks */               \
  X(SILENCE, "silence", silence(w, p)) /* no server can be reached */          \
  X(LINK, "link", cut_off(w, aimed_server(w, chosen))) /* from the leader */   \
  X(STOP, "stop", stop_server(w, aimed_server(w, chosen)))                     \
  X(ELECT, "elect", elect(w)) /* a new leader; the old one has not noticed */  \
  X(SLEEP, "sleep", put_to_sleep(w)) /* a commit processor: ZOOKEEPER-4537 */  \
  X(FORCE, "force", force(w, p))     /* somebody else closes a session */      \
  X(PAUSE, "pause", process_pause(w, p, while_or_timeout(w))) /* SIGSTOP */    \
  X(DOZE, "doze", process_dozes(w, p, while_or_timeout(w)))   /* a suspend */  \
  X(CRASH, "crash", process_crash(w, p))                      /* SIGKILL */    \
  X(CLOSE, "close", process_close(w, p)) /* and another session is opened */   \
  X(CANCEL, "cancel", user_cancels(w))   /* a waiter gives up */               \
  X(REMOVE, "remove", remove_node(w))    /* an operator deletes a node, */     \
  X(REMOVE_ALL, "remove-all", remove_all(w)) /* or the directory, */           \
  X(WRITE, "write", write(w, false))      /* or writes a contender's data, */  \
  X(REVOKE, "revoke", write(w, true))     /* or asks it to let go */           \
  X(CONFIGURE, "configure", configure(w)) /* a server grants other timeouts */ \
  X(REAP, "reap", leader_reaps(w))        /* empty containers vanish */

/* These are how the world of a schedule is made. */
#define QUIRKS(X)                                                             \
  X(SLOW, "slow")         /* the network is */                                \
  X(GRANT, "grant")       /* each server grants another timeout */            \
  X(OBSERVER, "observer") /* a server is one, behind a follower */            \
  X(STRAGGLE, "straggle") /* requests come when their connection is over */   \
  X(LAG, "lag")           /* servers apply late */                            \
  X(LATE, "late")         /* answers that come after all was lost */          \
  X(STALL, "stall")       /* pauses between reading clock and acting */       \
  X(MEMORY, "memory")     /* there is sometimes none */                       \
  X(UNREADABLE, "unreadable") /* nodes whose ACL forbids reading */           \
  X(FORBIDDEN, "forbidden")   /* a directory whose ACL forbids creating */    \
  X(OLD, "old")               /* a server without containers */               \
  X(COUNTER, "counter")       /* a directory's counter is at its end */       \
  X(DRIFT, "drift")           /* clocks of different rates */                 \
  X(TIMEOUT, "timeout")       /* waiters with a deadline */                   \
  X(TRY, "try")               /* users who do not wait */                     \
  X(MAX_HOLD, "max-hold")                                                     \
  X(SUSPEND, "suspend")   /* holders who lose by a disconnection */           \
  X(TWIN, "twin")         /* several users of one session */                  \
  X(FLAP, "flap")         /* connections break again and again */             \
  X(ONLOOKER, "onlooker") /* who waits for what becomes of nodes */           \
  X(FOREIGN, "foreign")   /* clients of another library */                    \
  X(GARBLE, "garble")     /* creates are answered with names that are none */ \
  X(IMPOSTOR, "impostor") /* nodes that no session owns, with such names */   \
  X(EQUAL, "equal")       /* sessions whose names begin alike */              \
  X(CONVOY, "convoy")     /* everybody comes back at once, again and again */ \
  X(DATA_LOSS, "data-loss") /* the ensemble comes back without its data */    \
  X(REFUSE, "refuse")       /* servers refuse writes by themselves */         \
  X(SKIP, "skip")           /* a leader that was proposes no refused write */ \
  X(THROTTLE, "throttle")   /* servers throttle requests of any kind */       \
  X(QUOTA, "quota")         /* directories take only so many contenders */    \
  X(DENIAL, "denial")       /* deletes that an ACL forbids for a while */     \
  X(REFUSAL, "refusal")     /* credentials that are refused for a while */    \
  X(MIXED, "mixed")         /* locks of two kinds on one path */

enum fault {
#define X(name, ...) FAULT_##name,
  STRIKES(X) STRIKE_COUNT,
  FAULT_BEFORE_QUIRKS = STRIKE_COUNT - 1,
  QUIRKS(X)
#undef X
      FAULTS
};

/* The longest pause of whoever is told *not now*. */
#define PAUSE_MAX (2000 * MILLISECOND)

#define FAULT_BIT(name) (UINT64_C(1) << FAULT_##name)

enum { STRIKES_MAX = 12 };

enum { TRAP_EVENT = 29, TRAP_ROUND, TRAP_CONNECT };

/* A strike waits for its time, for a request of a certain kind, an event, the
 * answer to a heartbeat, or until the leader hears that somebody connects. */
struct strike {
  enum fault fault;
  int trap;      /* an op_kind, or one of the above; NOBODY: none */
  int countdown; /* of such */
};

struct faults {
  uint64_t classes; /* a set of enum fault */
  bool about_time;  /* silence and long waits rather than accidents, */
  bool aimed;       /* which befall a holder at the worst of its moments */
  unsigned traps;   /* a set: is any strike waiting for it? */
  int strike_count;
  struct strike strikes[STRIKES_MAX];
};

extern const char *const fault_names[FAULTS];
bool fault_is(const struct world *w, enum fault fault);

void faults_draw(struct world *w, uint64_t allowed);
void faults_plan(struct world *w);
/* `chosen`: the process whose request it was, + 1; 0: nobody in particular. */
void fault_strikes(struct world *w, int strike, int chosen);
/* A connection of its flaps, if it has it still. */
void fault_flaps(struct world *w, struct process *p, int connection);
/* The ensemble comes back without its data. `early`: not as the runbook
 * says. */
void data_loss_plan(struct world *w);
void data_loss_servers_end(struct world *w, int early);
void data_loss_servers_begin(struct world *w, int early);
/* When something that begins now, and lasts, ends. */
int64_t fault_while(struct world *w);
/* A request was sent (its op_kind), or an event was heard: is a strike waiting
 * for it? */
void faults_see(struct world *w, int process, int trap);

#endif
