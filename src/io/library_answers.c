#include "library_handle.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/name.h"

/* A contender's create that was sent and not answered yet. zklock compares the
 * reply with this record. */
struct expected {
  struct expected *next;
  uint64_t serial;
  bool exact;
  /* The create is part of a transaction. Its reply contains the path of the new
   * node, but not its Stat. */
  bool bare;
  char path[];
};

/* The functions below check values from replies, after the client library has
 * parsed them. */

int answers_code(int rc) {
  return rc <= 0 && rc > REASON_COUNTER_AT_END ? rc : ZSYSTEMERROR;
}

const char *answers_check_names(const struct String_vector *names) {
  if (!names || names->count < 0 || (names->count > 0 && !names->data))
    return "a list with a negative length";
  for (int i = 0; i < names->count; i++) {
    const char *name = names->data[i];
    if (!name) return "a list that ends too early";
    if (!*name || strchr(name, '/')) return "a list with an invalid name";
  }
  return NULL;
}

/* Returns an error text if a name appears twice in the listing, or NULL.
 * Compares only neighbours, because the listing is sorted. */
const char *answers_check_listing(const struct listing *listing) {
  for (int i = 1; i < listing->count; i++) {
    const struct entry *e = &listing->entries[i];
    if (e->sequence == e[-1].sequence && strcmp(e->name, e[-1].name) == 0)
      return "a list with a duplicate name";
  }
  return NULL;
}

const char *answers_check_stat(const struct Stat *stat) {
  if (!stat || stat->dataLength < 0 || stat->numChildren < 0)
    return "a Stat with a negative length";
  return NULL;
}

const char *answers_check_data(const char *value, int length,
                               const struct Stat *stat) {
  if (length < -1 || (length > 0 && !value))
    return "data with a negative length";
  return answers_check_stat(stat);
}

/* Checks each reply against the request that it answers. */

void answers_init(struct answers *a) {
  *a = (struct answers){.end = &a->first, .last = &a->first};
}

bool answers_expect(struct answers *a, const struct op *create, bool bare) {
  size_t size = strlen(create->path) + 1;
  struct expected *e = malloc(sizeof *e + size);
  if (!e) return false;
  e->next = NULL;
  e->serial = create->serial;
  e->exact = create->exact;
  e->bare = bare;
  memcpy(e->path, create->path, size);
  *a->end = e;
  a->last = a->end;
  a->end = &e->next;
  return true;
}

void answers_cancel_expected(struct answers *a) {
  a->end = a->last;
  free(*a->end);
  *a->end = NULL;
}

static struct expected *take_first(struct answers *a) {
  struct expected *e = a->first;
  a->first = e->next;
  if (!a->first) a->end = &a->first;
  return e;
}

void answers_begin(struct answers *a, int64_t session) {
  while (a->first) free(take_first(a));
  a->session = session;
  a->newest = 0;
}

/* Returns whether the node that the create made can have this path. An exact
 * create gets the requested path. For any other create, the server appends a
 * number in the format `%010d`. */
static bool is_path_of(const struct expected *e, const char *path) {
  size_t length = strlen(e->path), whole = strlen(path);
  int32_t sequence;
  if (strncmp(path, e->path, length) != 0) return false;
  if (e->exact) return whole == length;
  return (whole == length + 10 || whole == length + 11) &&
         name_parse(path, &sequence) != ROLE_FOREIGN;
}

/* Returns what is wrong with the reply `i` to the create `e`, or NULL. A server
 * replies in the order of the requests, and each change has a greater zxid than
 * the one before. So the czxids of the nodes created in one connection
 * increase. zklock checks this because it makes fencing tokens from czxids. */
static const char *check_create(struct answers *a, const struct expected *e,
                                const struct incident *i) {
  if (i->code != ZOK) return NULL;
  if (!is_path_of(e, i->text)) return "a node that zklock did not create";
  if (e->bare) return NULL;
  if (i->reply.owner != a->session) return "a node of another session";
  if (i->reply.czxid <= a->newest)
    return "a node with a smaller czxid than an earlier one";
  a->newest = i->reply.czxid;
  return NULL;
}

/* Checks the reply `i`. Returns what is wrong with it, or NULL. If it answers a
 * create, removes that create from the list of expected replies. Also removes
 * all earlier creates: their replies were dropped for lack of memory. */
const char *answers_check(struct answers *a, const struct incident *i) {
  const char *fault = i->fault;
  while (a->first && a->first->serial <= i->serial) {
    struct expected *e = take_first(a);
    if (!fault && e->serial == i->serial) fault = check_create(a, e, i);
    free(e);
  }
  return fault;
}
