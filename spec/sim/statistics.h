/* How often each thing happened: whether the schedules are worth running. */
#ifndef SIM_STATISTICS_H
#define SIM_STATISTICS_H

#include <stdint.h>

#define STATISTICS(X)                                                        \
  X(EVENTS, "events")                                                        \
  X(CONNECTED, "connections made")                                           \
  X(RECONNECTED, "reconnections of a live session")                          \
  X(MOVED_SERVER, "of them to another server")                               \
  X(REFUSED_BY_LAGGING, "connections refused by a lagging server")           \
  X(EMPTIED_EARLY, "times the servers came back empty, at once")             \
  X(EMPTIED_LATE, "times they did so as the runbook says")                   \
  X(REFUSED_BY_EMPTIED, "connections refused by servers that are emptied")   \
  X(ATTEMPT_TIMED_OUT, "connection attempts given up")                       \
  X(SILENT_DISCONNECT, "disconnections found by the clock")                  \
  X(SESSION_EXPIRED, "sessions expired by silence")                          \
  X(GIVEN_UP, "sessions given up by their owners")                           \
  X(EXPIRY_TOLD, "expiries told to a client")                                \
  X(SESSION_MOVED, "requests refused: session moved")                        \
  X(REFUSED_ALONE, "requests that a server refuses by itself")               \
  X(MISSED_DELETION, "missed deletions told after a reconnection")           \
  X(MISSED_CHANGE, "missed changes told after a reconnection")               \
  X(TIMEOUT_FALLS, "reconnections with a smaller timeout")                   \
  X(LATE_REQUEST, "requests handed on behind their connection's end")        \
  X(STRAGGLER, "nodes made behind their owner's back")                       \
  X(UNSENT, "requests kept for the next connection")                         \
  X(JOINED, "deletes and creates in one transaction")                        \
  X(UNDONE, "of them undone")                                                \
  X(LATE_ANSWER, "answers to requests of an old connection")                 \
  X(UNREADABLE, "nodes that may not be read")                                \
  X(THROTTLED, "requests that a server has throttled")                       \
  X(OVER_QUOTA, "creates beyond a quota")                                    \
  X(DENIED_DELETE, "deletes that an ACL forbade")                            \
  X(SHUT_OUT, "reconnections at which credentials were refused")             \
  X(COUNTER_END, "numbers given at the end of the counter")                  \
  X(CUT_AT_LARGE, "connections cut at a large request")                      \
  X(CUT_WITH_OTHERS, "of them with earlier requests unanswered")             \
  X(FLAPPED, "connections that flapped")                                     \
  X(TOO_LARGE, "refused: too large")                                         \
  X(TRIED_ANEW, "large ones tried anew after a minute")                      \
  X(REAPED, "containers reaped")                                             \
  X(SUBMIT_FAILED, "requests refused: no memory")                            \
  X(LIST_WITHOUT_MEMORY, "lists without memory")                             \
  X(STALE_NOW, "batches handled with an old clock")                          \
  X(CREATE_LOST, "creates whose reply was lost")                             \
  X(CREATE_LOST_APPLIED, "of them applied")                                  \
  X(REMOVE_LOST, "deletes whose reply was lost")                             \
  X(REMOVE_LOST_APPLIED, "of them applied")                                  \
  X(ACQUIRED, "acquisitions begun")                                          \
  X(GRANTED, "grants")                                                       \
  X(GRANTED_BY_LIST, "grants by a list")                                     \
  X(GRANTED_BY_EVENT, "grants by a watch event alone")                       \
  X(GRANTED_BY_OTHER, "grants by another answer")                            \
  X(GRANTED_AFTER_RECONNECTION, "grants after a reconnection while waiting") \
  X(GRANTED_UNBELIEVED, "grants told when the lease was over")               \
  X(QUEUED, "times queued")                                                  \
  X(FOLLOWED, "of them without a list, behind the tail")                     \
  X(GRANTED_FOLLOWER, "grants to such, behind a list")                       \
  X(FINDING, "times a create was in doubt")                                  \
  X(FOUND, "of them found")                                                  \
  X(NOT_FOUND, "of them not found")                                          \
  X(REPARKED, "expiries while waiting")                                      \
  X(OWN_NODE_GONE, "own node gone while waiting")                            \
  X(LEFT_IN_DOUBT, "given up while the create was in doubt or under way")    \
  X(TIMEOUT, "refused: timeout")                                             \
  X(BUSY, "refused: busy")                                                   \
  X(CANCELLED, "refused: cancelled")                                         \
  X(DISCONNECTED, "refused: disconnected")                                   \
  X(REFUSED_CLOSED, "refused: closed")                                       \
  X(AUTH, "refused: not allowed")                                            \
  X(CONFLICT, "refused: another kind is there")                              \
  X(KINDS_UNSEEN, "kinds side by side that could not know")                  \
  X(GARBLED, "creates answered with another name")                           \
  X(INVALID, "refused: invalid")                                             \
  X(LOST_BY_LEASE, "lost: the lease was over")                               \
  X(LOST_FOR_NOTHING, "of them though all went well since the grant")        \
  X(LOST_OTHERWISE, "lost: max_hold, or a suspension")                       \
  X(LOST_BY_EXPIRY, "lost: expired")                                         \
  X(LOST_BY_CLOSE, "lost: closed")                                           \
  X(LOST_BY_FORCE, "lost: the node was deleted by an operator")              \
  X(HELD_THROUGH, "holds that survived a reconnection")                      \
  X(RELEASED, "releases")                                                    \
  X(GHOST, "acquisitions beside a release under way")                        \
  X(REVOKED, "revocations told")                                             \
  X(ALONE, "holders told that nobody waits")                                 \
  X(COMPANY, "holders told that somebody may")                               \
  X(PERMITS_SHARED, "holders beside others")                                 \
  X(WAITED, "waits for what becomes of a node")                              \
  X(MET, "of them met")                                                      \
  X(UNMET, "of them ended otherwise")                                        \
  X(GATHERED, "members let into a double barrier")                           \
  X(CONCERTS, "schedules in which exactly enough of them come")              \
  X(DEPARTED, "departures from one")                                         \
  X(DEPARTED_ALL, "of them together with all others")                        \
  X(FOREIGN, "holds of foreign clients")                                     \
  X(BYSTANDER, "nodes of nobody that are spelled like contenders")           \
  X(PASSED_OVER, "times such a one was passed over")                         \
  X(OVERLAP_EXCUSED, "beliefs that overlap by an operator's doing")

enum sight {
#define X(name, text) SAW_##name,
  STATISTICS(X)
#undef X
      SIGHTS
};

struct statistics {
  uint64_t seen[SIGHTS];
  uint64_t struck[64]; /* by class of fault */
};

#endif
