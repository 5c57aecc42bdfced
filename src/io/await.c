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
  if (a->claim) claim_drop(a->claim);
  free(a);
}

/* Called when the session drops its reference. */
static void forget(void *self) {
  struct await *a = self;
  a->known = false;
  await_drop(a);
}

static void over(struct await *a, bool met, enum verdict verdict, int reason) {
  a->met = met;
  a->verdict = verdict;
  a->reason = reason;
  a->port->over(a->port->self, a);
}

/* Vigils. */

static void vigil_ended(struct vigil *v, bool met) {
  struct await *a = v->owner;
  over(a, met, v->verdict, v->reason);
  forget(a);
}

struct await *await_new(const char *chroot, const char *path,
                        enum vigil_kind kind, int known, bool patient,
                        int64_t until) {
  struct await *a = make(chroot, path);
  if (!a) return NULL;
  a->vigil = (struct vigil){.path = a->path,
                            .kind = kind,
                            .known = known,
                            .proves = kind == VIGIL_GONE,
                            .patient = patient,
                            .until = until,
                            .ended = vigil_ended,
                            .owner = a};
  return a;
}

/* Departures. */

static void release(void *self) {
  const struct await *a = self;
  a->port->release(a->port->self, a->claim);
}

static void departed(void *self, bool all) {
  struct await *a = self;
  over(a, all, a->departure.verdict, a->departure.reason);
}

struct await *await_departure(struct claim *member, bool patient,
                              int64_t until) {
  struct await *a = make("", member->path);
  if (!a) return NULL;
  claim_keep(member);
  a->claim = member;
  a->departure =
      (struct departure){.path = a->path,
                         .own = member->contender.node.name,
                         .until = until,
                         .patient = patient,
                         .owner = {a, .release = release, .ended = departed,
                                   .forgotten = forget}};
  return a;
}

/* Commands, on the I/O thread. */

void await_begin(struct await *a, struct session *session, int64_t now,
                 const struct await_port *port) {
  a->port = port;
  a->known = true;
  await_keep(a); /* the session's reference */
  if (!session) {
    over(a, false, VERDICT_CLOSED, 0);
    forget(a);
  } else if (a->claim) {
    session_depart(session, now, &a->departure);
  } else if (!session_keep_vigil(session, now, &a->vigil)) {
    over(a, false, VERDICT_INVALID, REASON_NO_MEMORY);
    forget(a);
  }
}

void await_end(struct await *a, struct session *session, int64_t now) {
  if (!a->known) return;
  if (a->claim)
    session_end_departure(session, now, &a->departure);
  else
    session_end_vigil(session, now, &a->vigil);
}
