#include "library_handle.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/name.h"

_Thread_local struct library *library_current;

struct incident *incident_new(int kind, int code, const char *text,
                              size_t size) {
  struct incident *incident = calloc(1, sizeof *incident + size + 1);
  if (!incident) return NULL;
  incident->kind = kind;
  incident->code = code;
  incident->reply = (struct reply){.rc = code,
                                   .path = incident->text,
                                   .data = incident->text};
  if (size) memcpy(incident->text, text, size);
  return incident;
}

void incident_free(struct incident *incident) {
  listing_free(incident->reply.listing);
  free(incident);
}

void inbox_append(struct library *l, struct incident *incident) {
  if (!incident) {
    l->overflow = true;
    return;
  }
  *l->end = incident;
  l->end = &incident->next;
}

struct incident *inbox_take(struct library *l, bool *overflow) {
  struct incident *first = l->first;
  *overflow = l->overflow;
  l->first = NULL;
  l->end = &l->first;
  l->overflow = false;
  return first;
}

void handle_reset(struct library *l) {
  l->connected = l->must_end = l->auth_required = l->answered = false;
  l->fd = -1;
  l->due = INT64_MAX;
  l->unread = l->idle = 0;
  stream_reset(&l->stream);
  stream_secure(&l->stream, NULL, NULL);
}

/* Returns the ACL entry that lets all other clients read a node and create
 * children. Two kinds of nodes that several clients use get this entry, besides
 * the entries of option `acl`. They are the directories above the chroot, and
 * the `ready` node of a double barrier. Without the entry, the client that
 * creates such a node first could exclude the others. The entry does not let
 * them delete children. */
static struct ACL for_others(void) {
  return (struct ACL){.perms = ZOO_PERM_READ | ZOO_PERM_CREATE,
                      .id = ZOO_ANYONE_ID_UNSAFE};
}

static bool make_acl(struct library *l) {
  const struct settings *settings = l->settings;
  int n = settings->acl_count;
  l->acl = l->acl_shared = ZOO_OPEN_ACL_UNSAFE;
  if (n == 0) return true;
  l->acl_entries = calloc((size_t)n + 1, sizeof(struct ACL));
  if (!l->acl_entries) return false;
  for (int i = 0; i < n; i++) {
    l->acl_entries[i].perms = settings->acl[i].permissions;
    l->acl_entries[i].id.scheme = settings->acl[i].scheme;
    l->acl_entries[i].id.id = settings->acl[i].id;
  }
  l->acl_entries[n] = for_others();
  l->acl = (struct ACL_vector){n, l->acl_entries};
  l->acl_shared = (struct ACL_vector){n + 1, l->acl_entries};
  return true;
}

struct library *handle_new(const struct settings *settings) {
  struct library *l = calloc(1, sizeof *l);
  if (!l) return NULL;
  l->settings = settings;
  if (!make_acl(l)) {
    free(l);
    return NULL;
  }
  l->end = &l->first;
  certificates_init(&l->certificates, &settings->tls);
  answers_init(&l->answers);
  handle_reset(l);
  return l;
}

void handle_free(struct library *l) {
  certificates_free(&l->certificates);
  free(l->acl_entries);
  free(l);
}
