#include "await.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "messages.h"

static void free_await(void *self) {
  struct await *a = self;
  if (a->acquisition) subject_drop(&a->acquisition->subject);
  free(a);
}

static struct await *make(const char *prefix, const char *path) {
  size_t before = strlen(prefix), size = strlen(path) + 1;
  struct await *a = calloc(1, sizeof *a + before + size);
  if (!a) return NULL;
  subject_init(&a->subject, free_await);
  struct message *messages[] = {&a->begin, &a->end, &a->over};
  for (int i = 0; i < 3; i++) message_init(messages[i], &a->subject);
  memcpy(a->path, prefix, before); /* NOLINT: the next line ends it */
  memcpy(a->path + before, path, size);
  return a;
}

/* Called when the session discards the await. Marks the await as unknown to the
 * session, and drops the session's reference. */
static void forget(void *self) {
  struct await *a = self;
  a->known = false;
  subject_drop(&a->subject);
}

static void over(struct await *a, bool met, enum refusal_code refusal_code,
                 int reason) {
  a->met = met;
  a->refusal_code = refusal_code;
  a->reason = reason;
  core_post(a->core, &a->over, EVENT_AWAITED);
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

/* Releases the member's hold. */
static void release(void *self) {
  const struct await *a = self;
  if (acquisition_end_hold(a->acquisition, ACQUISITION_RELEASED))
    session_release(&a->core->session, clock_now(), &a->acquisition->contender);
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
  subject_keep(&member->subject);
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

void await_begin(struct await *a, int64_t now) {
  struct session *session = &a->core->session;
  a->known = true;
  subject_keep(&a->subject); /* the session's reference */
  if (a->core->closing) {
    over(a, false, REFUSED_CLOSED, 0);
    forget(a);
  } else if (!session_begin_node_wait(session, now, wait_of(a))) {
    over(a, false, REFUSED_INVALID, REASON_NO_MEMORY);
    forget(a);
  }
}

void await_end(struct await *a, int64_t now) {
  if (a->known) session_end_node_wait(&a->core->session, now, wait_of(a));
}
