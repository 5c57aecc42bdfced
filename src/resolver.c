#include "resolver.h"

#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { ADDRESS_MAX = 64, ADDRESSES = 32 };

struct resolver {
  pthread_mutex_t lock;
  int references;           /* guarded by lock: the thread, the owner */
  bool done;                /* guarded by lock */
  void (*wake)(void *self); /* guarded by lock; NULL: abandoned */
  void *self;
  /* Written by the thread before `done`: */
  char result[ADDRESSES * ADDRESS_MAX];
  char error[160];
  bool temporary;
  int count;
  struct host hosts[];
};

static int look_up(const struct host *host, bool numeric,
                   struct addrinfo **found) {
  struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  hints.ai_flags = AI_NUMERICSERV | (numeric ? AI_NUMERICHOST : 0);
  return getaddrinfo(host->name, host->port, &hints, found);
}

bool resolver_is_numeric(const struct hosts *hosts) {
  for (int i = 0; i < hosts->count; i++) {
    struct addrinfo *found;
    if (look_up(&hosts->list[i], true, &found) != 0) return false;
    freeaddrinfo(found);
  }
  return true;
}

static void release(struct resolver *r) {
  pthread_mutex_lock(&r->lock);
  bool last = --r->references == 0;
  pthread_mutex_unlock(&r->lock);
  if (!last) return;
  pthread_mutex_destroy(&r->lock);
  free(r);
}

static int by_text(const void *a, const void *b) { return strcmp(a, b); }

static void resolve(struct resolver *r) {
  char addresses[ADDRESSES][ADDRESS_MAX];
  int n = 0;
  for (int i = 0; i < r->count; i++) {
    struct addrinfo *found;
    int rc = look_up(&r->hosts[i], false, &found);
    if (rc != 0) {
      snprintf(r->error, sizeof r->error, "%.60s: %.80s", r->hosts[i].name,
               gai_strerror(rc));
      if (rc == EAI_AGAIN) r->temporary = true;
      continue;
    }
    for (struct addrinfo *a = found; a && n < ADDRESSES; a = a->ai_next) {
      char ip[ADDRESS_MAX - 8];
      if (getnameinfo(a->ai_addr, a->ai_addrlen, ip, sizeof ip, NULL, 0,
                      NI_NUMERICHOST) == 0)
        snprintf(addresses[n++], ADDRESS_MAX, "%s:%s", ip, r->hosts[i].port);
    }
    freeaddrinfo(found);
  }
  qsort(addresses, (size_t)n, ADDRESS_MAX, by_text);
  size_t length = 0;
  for (int i = 0; i < n; i++) {
    if (i > 0 && strcmp(addresses[i], addresses[i - 1]) == 0) continue;
    length += (size_t)snprintf(r->result + length, sizeof r->result - length,
                               "%s%s", length ? "," : "", addresses[i]);
  }
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
  return r->result;
}

void resolver_abandon(struct resolver *r) {
  if (!r) return;
  pthread_mutex_lock(&r->lock);
  r->wake = NULL;
  pthread_mutex_unlock(&r->lock);
  release(r);
}
