#include "await.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void drop(void *await) { await_drop(await); }

static struct await *make(const char *prefix, const char *path) {
  size_t before = strlen(prefix), size = strlen(path) + 1;
  struct await *a = calloc(1, sizeof *a + before + size);
  if (!a) return NULL;
  a->subject.drop = drop;
  a->references = 1;
  struct message *messages[] = {&a->begin, &a->end, &a->over};
  for (int i = 0; i < 3; i++) message_init(messages[i], &a->subject);
  memcpy(a->path, prefix, before); /* NOLINT: the next line ends it */
  memcpy(a->path + before, path, size);
  return a;
}

void await_keep(struct await *a) { a->references++; }

void await_drop(struct await *a) {
  int left = --a->references;
  assert(left >= 0);
  if (left > 0) return;
  if (a->acquisition) acquisition_drop(a->acquisition);
  free(a);
}

/* Called when the session discards the await. Marks the await as unknown to the
 * session, and drops the session's reference. */
static void forget(void *self) {
  struct await *a = self;
  a->known = false;
  await_drop(a);
}

static void over(struct await *a, bool met, enum refusal_code refusal_code,
                 int reason) {
  a->met = met;
  a->refusal_code = refusal_code;
  a->reason = reason;
  a->port->over(a->port->self, a);
}

/* Node waits. */

static void node_wait_ended(struct node_wait *v, bool met) {
  struct await *a = v->owner;
  over(a, met, v->refusal_code, v->reason);
  forget(a);
}

struct await *await_new(const char *chroot, const char *path,
                        enum node_wait_kind kind, int known, bool patient,
                        int64_t until) {
  struct await *a = make(chroot, path);
  if (!a) return NULL;
  a->node_wait = (struct node_wait){.path = a->path,
                                    .kind = kind,
                                    .known = known,
                                    .needs_heartbeat = kind == NODE_WAIT_GONE,
                                    .patient = patient,
                                    .until = until,
                                    .ended = node_wait_ended,
                                    .owner = a};
  return a;
}

/* Barrier leaves. */

static void release(void *self) {
  const struct await *a = self;
  a->port->release(a->port->self, a->acquisition);
}

static void barrier_leave_ended(void *self, bool all) {
  struct await *a = self;
  over(a, all, a->barrier_leave.wait.refusal_code,
       a->barrier_leave.wait.reason);
}

struct await *await_barrier_leave(struct acquisition *member, bool patient,
                                  int64_t until) {
  struct await *a = make("", member->path);
  if (!a) return NULL;
  acquisition_keep(member);
  a->acquisition = member;
  a->barrier_leave = (struct barrier_leave){
      .wait = {.path = a->path, .until = until, .patient = patient},
      .own = member->contender.node.name,
      .owner = {a, .release = release, .ended = barrier_leave_ended,
                .forgotten = forget}};
  barrier_leave_prepare(&a->barrier_leave);
  return a;
}

/* Commands, on the I/O thread. */

static struct node_wait *wait_of(struct await *a) {
  return a->acquisition ? &a->barrier_leave.wait : &a->node_wait;
}

void await_begin(struct await *a, struct session *session, int64_t now,
                 const struct await_port *port) {
  a->port = port;
  a->known = true;
  await_keep(a); /* the session's reference */
  if (!session) {
    over(a, false, REFUSED_CLOSED, 0);
    forget(a);
  } else if (!session_begin_node_wait(session, now, wait_of(a))) {
    over(a, false, REFUSED_INVALID, REASON_NO_MEMORY);
    forget(a);
  }
}

void await_end(struct await *a, struct session *session, int64_t now) {
  if (a->known) session_end_node_wait(session, now, wait_of(a));
}
