/* One schedule: an ensemble, some processes, what goes wrong, and the order
 * of it all, drawn from one seed. */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "agenda.h"
#include "faults.h"
#include "foreign.h"
#include "invariants.h"
#include "locks.h"
#include "paths.h"
#include "process.h"
#include "random.h"
#include "users.h"
#include "waits.h"
#include "zoo.h"

#define MICROSECOND INT64_C(1000)
#define MILLISECOND INT64_C(1000000)
#define SECOND INT64_C(1000000000)
#define MINUTE (60 * SECOND)

enum { PROCESSES_MAX = 4, EVENTS_MAX = 150000 };

/* Clients, by number: the processes, then others. */
enum {
  FOREIGNERS = PROCESSES_MAX,
  IMPOSTOR = FOREIGNERS + FOREIGNERS_MAX,
  BARRIER_SETTER,
  CLIENTS
};

/* What happens, and what does it: to process `p`, by `who`, to `which`. */
#define HAPPENINGS(X)                                                      \
  X(AT_SERVER, server_receives(w, which))  /* a request */                 \
  X(AT_LEADER, leader_receives(w, who))    /* requests, from a server */   \
  X(AT_CLIENT, process_hears(w, p, which)) /* a note */                    \
  X(SERVER_DELIVERS, server_delivers(w, who))                              \
  X(SERVER_REJOINS, server_rejoins(w, who, random_chance(&w->random, 50))) \
  X(LEADER_PINGS, leader_pings(w))                                         \
  X(MASTER_PINGS, master_pings(w, who))                                    \
  X(SESSION_MAY_EXPIRE, leader_looks_at_session(w, which))                 \
  X(PROCESS_WAKES, process_wakes(w, p))                                    \
  X(PROCESS_RUNS, process_runs(w, p))                                      \
  X(PROCESS_RESUMES, process_resumes(w, p))                                \
  X(PROCESS_OPENS, process_open(w, p))                                     \
  X(LIBRARY_WAKES, library_wakes(w, p))                                    \
  X(USER_ACTS, user_wants(w, p, USER_ACTS, which))                         \
  X(USER_RELEASES, user_wants(w, p, USER_RELEASES, which))                 \
  X(USER_DOWNGRADES, user_wants(w, p, USER_DOWNGRADES, which))             \
  X(USER_CANCELS, user_wants(w, p, USER_CANCELS, which))                   \
  X(USER_CHECKS_QUEUE, user_wants(w, p, USER_CHECKS_QUEUE, which))         \
  /* which wait, which leaving */                                          \
  X(USER_STOPS_WAITING, user_wants(w, p, USER_STOPS_WAITING, which))       \
  X(USER_STOPS_LEAVING, user_wants(w, p, USER_STOPS_LEAVING, which))       \
  X(ONLOOKER_ACTS, user_wants(w, p, ONLOOKER_ACTS, which))                 \
  X(BARRIER_ACTS, barrier_acts(w, which))                                  \
  X(FOREIGN_ACTS, foreign_acts(w, who))                                    \
  X(IMPOSTOR_ACTS, impostor_acts(w))                                       \
  X(FAULT_STRIKES, fault_strikes(w, which, who))                           \
  X(CONNECTION_FLAPS, fault_flaps(w, p, which))                            \
  X(SERVERS_END, data_loss_servers_end(w, which))                          \
  X(SERVERS_BEGIN_EMPTY, data_loss_servers_begin(w, which))                \
  X(CALM_BEGINS, calm(w))

enum what {
#define X(what, act) what,
  HAPPENINGS(X)
#undef X
};

/* How the world of this schedule is made. */
struct profile {
  int64_t latency;     /* of a message, at most */
  int64_t timeout;     /* of the sessions */
  int64_t tick_told;   /* to the sessions; 0: they were not told */
  int64_t active;      /* until then things go wrong */
  int64_t hold;        /* at most */
  bool stretched;      /* long times are as likely as any */
  int64_t think;       /* between acquisitions, at most */
  int submit_fails;    /* percent */
  unsigned unreadable; /* a set of clients, whose nodes others may not read */
  int forbidden_path;  /* NOBODY: none */
  bool concert;        /* as many members as make a double barrier complete,
                          each as often as the others, and no faults */
  int lock_count;
  struct lock locks[LOCKS_MAX];
};

struct world {
  uint64_t seed;
  struct random random;
  int64_t now;
  uint64_t events;
  bool calm; /* nothing goes wrong any more */
  int64_t calm_since;
  int64_t bound;      /* everybody must have finished by then... */
  int64_t decided_at; /* ... or 20 timeouts after the last decision */
  int64_t ends_at;    /* NEVER: somebody has not finished */

  struct profile profile;
  struct faults faults;
  struct agenda agenda;
  struct paths paths;
  struct zoo zoo;
  int process_count;
  struct process processes[PROCESSES_MAX];
  int acquisition_count, first_alive; /* those before it are forgotten */
  bool may_be_done;
  struct acquisition acquisitions[ACQUISITIONS_MAX];
  int wait_count, leaving_count;
  struct wait waits[WAITS_MAX];
  struct leaving leavings[LEAVINGS_MAX];
  struct foreigner foreigners[FOREIGNERS_MAX];
  struct impostor impostor;

  int wanted_family; /* NOBODY: any */
  bool wanted_aim;   /* all schedules are about the lease */
  bool tracing;
  char violation[400]; /* empty: none */
};

/* Runs the schedule of one seed; false: an invariant was violated. */
bool world_run(struct world *w, uint64_t seed, uint64_t allowed_faults);

/* What a session's names are made of; where they are to be equal, mostly the
 * same for all. */
void world_bits(struct world *w, unsigned char bits[16]);

static inline int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

/* Lengths of time that may be short or long. */
int64_t world_span(struct world *w, int64_t longest);

void violate(struct world *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void write_trace(struct world *w, int process, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define trace(w, process, ...)                                  \
  do {                                                          \
    if ((w)->tracing) write_trace((w), (process), __VA_ARGS__); \
  } while (0)

#endif
