#include "library_rehearsal.h"

#include <stddef.h>
#include <stdio.h>

#include "library_codes.h"
#include "path.h"

/* In this order, of which the first and the last are the parent's matter. */
enum { MAKE, LOOK, ENTER, LEAVE, UNMAKE };
_Static_assert(UNMAKE + 1 == REHEARSED, "as many as there is room for");

/* (Completions come in order, each behind its own results.) */
static const struct library *current(void) {
  return (const struct library *)((const char *)inbox_current -
                                  offsetof(struct library, inbox));
}

/* Which of them was refused? */
static int refused(const struct library *l) {
  int which = MAKE;
  while (which < UNMAKE && l->rehearsed[which].err == ZOK) which++;
  return which;
}

static int outcome(const struct library *l, int told) {
  int rc = answers_code(told);
  if (rc == ZOK || !code_is_answer(rc)) return rc;
  switch (refused(l)) {
    case MAKE:
      return rc;
    case UNMAKE:
      return ZOK; /* (nor do we have to) */
    default:
      return rc == ZNOAUTH ? REASON_ACL : rc;
  }
}

static void on_rehearsed(int rc, const void *data) {
  struct incident *incident =
      incident_new(INCIDENT_REPLY, outcome(current(), rc), NULL, 0);
  if (incident) incident->serial = (uint64_t)(uintptr_t)data;
  inbox_append(inbox_current, incident);
}

int rehearsal_submit(struct library *l, const struct op *op) {
  char child[2 * PATH_MAX_BYTES + 40];
  zoo_op_t ops[REHEARSED];
  snprintf(child, sizeof child, "%s/rehearsal", op->path);
  zoo_create_op_init(&ops[MAKE], op->path, NULL, -1, &l->acl, 0, NULL, 0);
  zoo_check_op_init(&ops[LOOK], op->path, -1);
  zoo_create_op_init(&ops[ENTER], child, NULL, -1, &l->acl, 0, NULL, 0);
  zoo_delete_op_init(&ops[LEAVE], child, -1);
  zoo_delete_op_init(&ops[UNMAKE], op->path, -1);
  return zoo_amulti(l->handle, REHEARSED, ops, l->rehearsed, on_rehearsed,
                    (const void *)(uintptr_t)op->serial);
}
