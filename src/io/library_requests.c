/* Sends the protocol's requests. Its callbacks append replies and watch events
 * to the inbox (library_handle.h). */
#include <string.h>

#include "library.h"
#include "library_handle.h"
#include "protocol/name.h"

/* Replies and watches. */

static void report(struct incident *incident) {
  inbox_append(library_current, incident);
}

static struct incident *reply_new(const void *data, int rc, const char *text,
                                  size_t size, const struct Stat *stat) {
  struct incident *incident =
      incident_new(INCIDENT_REPLY, answers_code(rc), text, size);
  if (!incident) return NULL;
  incident->serial = (uint64_t)(uintptr_t)data;
  if (stat && rc == ZOK) {
    struct reply *reply = &incident->reply;
    reply->czxid = stat->czxid;
    reply->owner = stat->ephemeralOwner;
    reply->ctime_ms = stat->ctime;
    reply->mtime_ms = stat->mtime;
    reply->version = stat->version;
    reply->length = stat->dataLength;
    reply->children = stat->numChildren;
  }
  return incident;
}

static void on_void(int rc, const void *data) {
  report(reply_new(data, rc, NULL, 0, NULL));
}

static void on_string(int rc, const char *value, const void *data) {
  (void)value;
  on_void(rc, data);
}

/* If the code `rc` means success but `fault` is not NULL, reports `fault`
 * without the reply's values, and returns true. `fault` says what is wrong with
 * the values. */
static bool reports_fault(const void *data, int rc, const char *fault) {
  if (rc != ZOK || !fault) return false;
  struct incident *incident = reply_new(data, rc, NULL, 0, NULL);
  if (incident) incident->fault = fault;
  report(incident);
  return true;
}

static void on_created(int rc, const char *value, const struct Stat *stat,
                       const void *data) {
  if (reports_fault(data, rc, value ? answers_check_stat(stat) : "no path"))
    return;
  size_t size = rc == ZOK ? strlen(value) : 0;
  report(reply_new(data, rc, value, size, stat));
}

static void on_stat(int rc, const struct Stat *stat, const void *data) {
  if (reports_fault(data, rc, answers_check_stat(stat))) return;
  report(reply_new(data, rc, NULL, 0, stat));
}

/* Reports the data of a watched node. The protocol needs only two facts: the
 * beginning of the data, which messages show, and whether the data end with a
 * mark. The mark asks the holder to release the lock. */
static void on_watched(int rc, const char *value, int length,
                       const struct Stat *stat, const void *data) {
  if (reports_fault(data, rc, answers_check_data(value, length, stat))) return;
  size_t size = rc == ZOK && length > 0 ? (size_t)length : 0;
  size_t own = data_own_size(value, size);
  struct incident *incident =
      reply_new(data, rc, value, own < OP_SHOWN ? own : OP_SHOWN, stat);
  if (incident) {
    incident->reply.revoked = own < size;
    incident->reply.size = (int)own;
  }
  report(incident);
}

static void on_data(int rc, const char *value, int length,
                    const struct Stat *stat, const void *data) {
  if (reports_fault(data, rc, answers_check_data(value, length, stat))) return;
  bool any = rc == ZOK && length > 0;
  struct incident *incident =
      reply_new(data, rc, value, any ? (size_t)length : 0, stat);
  if (incident) incident->reply.size = length;
  report(incident);
}

/* Returns how many children of a directory were created so far. The servers'
 * counter cversion counts each creation and each deletion, modulo 2^32. So the
 * sum of cversion and the number of children is twice the number of
 * creations. */
static int creates(const struct Stat *directory) {
  uint32_t changes =
      (uint32_t)directory->cversion + (uint32_t)directory->numChildren;
  return (int)(changes / 2);
}

/* Reports a list of children. If `directory` is not NULL, the list has all
 * names. If it is NULL, the list has only the names of contenders' nodes. */
static void tell_names(int rc, const struct String_vector *names,
                       const struct Stat *directory, const void *data) {
  if (reports_fault(data, rc, answers_check_names(names))) return;
  struct incident *incident = reply_new(data, rc, NULL, 0, NULL);
  struct listing *listing = NULL;
  if (incident && rc == ZOK)
    listing = (directory ? listing_new_of_all
                         : listing_new)((const char *const *)names->data,
                                        names->count);
  if (listing) {
    if (directory) listing->creates = creates(directory);
    incident->reply.listing = listing;
    incident->fault = answers_check_listing(listing);
  }
  report(incident);
}

static void on_children(int rc, const struct String_vector *names,
                        const void *data) {
  tell_names(rc, names, NULL, data);
}

static void on_names(int rc, const struct String_vector *names,
                     const struct Stat *directory, const void *data) {
  tell_names(rc, names, directory, data);
}

void requests_on_event(zhandle_t *handle, int type, int state, const char *path,
                       void *context) {
  bool session = type == ZOO_SESSION_EVENT;
  (void)handle;
  if (!session && type != ZOO_DELETED_EVENT && type != ZOO_CHANGED_EVENT &&
      type != ZOO_CREATED_EVENT && type != ZOO_CHILD_EVENT)
    return;
  inbox_append(context,
               incident_new(session ? INCIDENT_STATE : INCIDENT_WATCH,
                            session ? state : type, path, strlen(path)));
}

/* Requests. */

static int submit_one(struct library *l, const struct op *op) {
  zhandle_t *zh = l->handle;
  const void *data = (const void *)(uintptr_t)op->serial;
  int mode = op->persistent ? ZOO_PERSISTENT : ZOO_CONTAINER;
  switch (op->kind) {
    case OP_CREATE:
      return zoo_acreate2(zh, op->path, op->data, op->size, &l->acl,
                          op->exact ? ZOO_EPHEMERAL : ZOO_EPHEMERAL_SEQUENTIAL,
                          on_created, data);
    case OP_MKDIR:
      return zoo_acreate2(zh, op->path, op->data, op->data ? op->size : -1,
                          op->shared ? &l->acl_shared : &l->acl, mode,
                          on_created, data);
    case OP_LIST:
      return zoo_awget_children(zh, op->path,
                                op->watch ? requests_on_event : NULL, l,
                                on_children, data);
    case OP_NAMES:
      return zoo_aget_children2(zh, op->path, 0, on_names, data);
    case OP_GET:
      return zoo_awget(zh, op->path, requests_on_event, l, on_watched, data);
    case OP_EXISTS:
      return zoo_awexists(zh, op->path, requests_on_event, l, on_stat, data);
    case OP_READ:
      return zoo_aget(zh, op->path, 0, on_data, data);
    case OP_WRITE:
      return zoo_aset(zh, op->path, op->data, op->size, op->version, on_stat,
                      data);
    case OP_PING:
      return zoo_aexists(zh, op->path, 0, on_stat, data);
    case OP_REMOVE:
      return zoo_adelete(zh, op->path, -1, on_void, data);
    case OP_SYNC:
      return zoo_async(zh, op->path, on_string, data);
    case OP_UNWATCH:
      /* Casts on_void, because the library's header (3.8) is wrong. It declares
       * a pointer to a function pointer, but the library uses the parameter as
       * the function pointer itself. The 0 for `local` also removes the
       * server's watch. */
      return zoo_aremove_all_watches(zh, op->path,
                                     op->watch ? ZWATCHTYPE_CHILD
                                               : ZWATCHTYPE_DATA,
                                     0, (void_completion_t *)on_void, data);
    case OP_CHECK_ACL:
    case OP_HEARTBEAT:
      break; /* these are transactions */
  }
  return ZINVALIDSTATE;
}

bool library_submit(struct library *l, const struct op *op,
                    const struct op *before) {
  bool is_create = op->kind == OP_CREATE;
  bool has_parts = before || op->beside || op->provided || op->counted ||
                   op->kind == OP_CHECK_ACL || op->kind == OP_HEARTBEAT;
  if (!l->connected ||
      (is_create && !answers_expect(&l->answers, op, has_parts)))
    return false;
  int rc = has_parts ? transaction_submit(l, op, before) : submit_one(l, op);
  if (is_create && rc != ZOK) answers_cancel_expected(&l->answers);
  return rc == ZOK;
}
