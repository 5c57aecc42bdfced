#include "resolver.h"

#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lookup.h"

enum { ADDRESS_MAX = IP_MAX + 8 };

struct endpoints {
  char (*list)[ADDRESS_MAX];
  size_t count;
};

/* (c) constant after resolver_start  (m) guarded by lock  (p) written by the
 * thread before it sets `done`, and constant afterwards */
struct resolver {
  pthread_mutex_t lock;
  int references;           /* (m) the thread, the owner */
  bool done;                /* (m) */
  void (*wake)(void *self); /* (m) NULL: abandoned */
  void *self;               /* (c) */
  char *result;             /* (p) NULL: see error */
  char error[160];          /* (p) */
  bool temporary;           /* (p) */
  int count;                /* (c) */
  struct host hosts[];      /* (c) */
};

bool resolver_is_numeric(const struct hosts *hosts) {
  struct ips ips = {0};
  int n = 0;
  while (n < hosts->count && lookup_numeric(&ips, hosts->list[n].name)) n++;
  ips_free(&ips);
  return n == hosts->count;
}

static void release(struct resolver *r) {
  pthread_mutex_lock(&r->lock);
  bool last = --r->references == 0;
  pthread_mutex_unlock(&r->lock);
  if (!last) return;
  pthread_mutex_destroy(&r->lock);
  free(r->result);
  free(r);
}

static int by_text(const void *a, const void *b) { return strcmp(a, b); }

static bool add(struct endpoints *all, const struct ips *ips,
                const char *port) {
  size_t size = (all->count + ips->count) * sizeof *all->list;
  void *list = size ? realloc(all->list, size) : NULL;
  if (!size) return true;
  if (!list) return false;
  all->list = list;
  for (size_t i = 0; i < ips->count; i++)
    snprintf(all->list[all->count++], sizeof *all->list, "%s:%s", ips->list[i],
             port);
  return true;
}

static bool add_host(struct resolver *r, struct endpoints *all,
                     const struct host *host) {
  struct ips ips = {0};
  char reason[80];
  int rc = lookup_numeric(&ips, host->name)
               ? 0
               : lookup_name(&ips, host->name, reason);
  if (rc != 0)
    snprintf(r->error, sizeof r->error, "%.60s: %s", host->name, reason);
  if (rc == EAI_AGAIN) r->temporary = true;
  bool ok = rc != EAI_MEMORY && (rc != 0 || add(all, &ips, host->port));
  ips_free(&ips);
  return ok;
}

static char *join(struct endpoints *all) {
  char *text = malloc(all->count * ADDRESS_MAX + 1), *end = text;
  if (!text) return NULL;
  if (all->count) qsort(all->list, all->count, sizeof *all->list, by_text);
  *end = '\0';
  for (size_t i = 0; i < all->count; i++) {
    if (i > 0 && strcmp(all->list[i], all->list[i - 1]) == 0) continue;
    end += sprintf(end, "%s%s", end > text ? "," : "", all->list[i]);
  }
  return text;
}

/* All or nothing: an address that is missing could be the only live one. */
static void resolve(struct resolver *r) {
  struct endpoints all = {0};
  bool ok = true;
  for (int i = 0; ok && i < r->count; i++) ok = add_host(r, &all, &r->hosts[i]);
  if (ok) r->result = join(&all);
  free(all.list);
  if (r->result) return;
  snprintf(r->error, sizeof r->error, "not enough memory");
  r->temporary = true;
}

static void *run(void *argument) {
  struct resolver *r = argument;
  resolve(r);
  pthread_mutex_lock(&r->lock);
  r->done = true;
  if (r->wake) r->wake(r->self); /* a write to a pipe */
  pthread_mutex_unlock(&r->lock);
  release(r);
  return NULL;
}

struct resolver *resolver_start(const struct hosts *hosts,
                                void (*wake)(void *self), void *self) {
  size_t size = (size_t)hosts->count * sizeof(struct host);
  struct resolver *r = calloc(1, sizeof *r + size);
  if (!r) return NULL;
  pthread_mutex_init(&r->lock, NULL);
  r->references = 2;
  r->wake = wake;
  r->self = self;
  r->count = hosts->count;
  memcpy(r->hosts, hosts->list, size);
  if (resolver_is_numeric(hosts)) { /* nothing that could hang */
    resolve(r);
    r->done = true;
    r->references = 1;
    return r;
  }
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  /* All signals are blocked in our caller, and so in the new thread. */
  int rc = pthread_create(&thread, &attributes, run, r);
  pthread_attr_destroy(&attributes);
  if (rc == 0) return r;
  r->references = 1;
  release(r);
  return NULL;
}

const char *resolver_result(struct resolver *r, const char **error,
                            bool *temporary) {
  pthread_mutex_lock(&r->lock);
  bool done = r->done;
  pthread_mutex_unlock(&r->lock);
  if (!done) return NULL;
  *error = r->error;
  *temporary = r->temporary;
  return r->result ? r->result : "";
}

void resolver_abandon(struct resolver *r) {
  if (!r) return;
  pthread_mutex_lock(&r->lock);
  r->wake = NULL;
  pthread_mutex_unlock(&r->lock);
  release(r);
}
