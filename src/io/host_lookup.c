#include "host_lookup.h"

#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "clock.h"
#include "fork.h"
#include "protocol/timer.h"

#define SECOND INT64_C(1000000000)
#define PAUSE_FIRST SECOND
#define PAUSE_MAX (5 * SECOND)
#define RETRY_AFTER (SECOND / 10)

enum { IP_MAX = 64 }; /* size of an IPv6 address with an interface */
enum { ADDRESS_MAX = IP_MAX + 8 };

struct endpoint {
  char address[ADDRESS_MAX];
  const char *name; /* the name of a host with this address */
};

struct endpoints {
  struct endpoint *list;
  size_t count, room;
};

/* A lookup, on a short-lived thread, because a lookup that hangs must not delay
 * the I/O thread's deadlines. If it was abandoned, the thread frees the memory.
 *
 * Access: (c) constant after start(), (m) guarded by `lock`. (p) written by the
 * lookup's thread before it sets `done`, and constant afterwards. */
struct resolver {
  pthread_mutex_t lock;
  int references;              /* (m) of the thread and the I/O thread */
  bool done;                   /* (m) */
  const struct wakeup *wakeup; /* (m) NULL: the lookup was abandoned */
  char *result;                /* (p) NULL: see `error` */
  char error[200];             /* (p) */
  bool temporary;              /* (p) */
  int count;                   /* (c) */
  struct host hosts[];         /* (c) */
};

/* Looks up a name. Returns 0, or an error of getaddrinfo (EAI_…). Does not set
 * the flag AI_ADDRCONFIG, with which getaddrinfo would take a lock even for a
 * numeric address. */
static int look_up(const char *name, int flags, struct addrinfo **found) {
  struct addrinfo hints = {.ai_family = AF_UNSPEC,
                           .ai_socktype = SOCK_STREAM,
                           .ai_flags = flags};
  return getaddrinfo(name, NULL, &hints, found);
}

static bool is_numeric(const char *name) {
  struct addrinfo *found;
  if (look_up(name, AI_NUMERICHOST, &found) != 0) return false;
  freeaddrinfo(found);
  return true;
}

static bool are_numeric(const struct hosts *hosts) {
  int n = 0;
  while (n < hosts->count && is_numeric(hosts->list[n].name)) n++;
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

static int by_text(const void *one, const void *other) {
  const struct endpoint *a = one, *b = other;
  int order = strcmp(a->address, b->address);
  return order ? order : strcmp(a->name, b->name);
}

static struct endpoint *room_for_one(struct endpoints *all) {
  if (all->count == all->room) {
    size_t room = all->room ? 2 * all->room : 8;
    void *list = realloc(all->list, room * sizeof *all->list);
    if (!list) return NULL;
    all->list = list;
    all->room = room;
  }
  return &all->list[all->count];
}

/* Adds the address `a` of the host to the list. Returns 0, or an error of
 * getaddrinfo (EAI_…). */
static int add(struct endpoints *all, const struct addrinfo *a,
               const struct host *host) {
  char ip[IP_MAX];
  struct endpoint *endpoint = room_for_one(all);
  if (!endpoint) return EAI_MEMORY;
  int rc = getnameinfo(a->ai_addr, a->ai_addrlen, ip, sizeof ip, NULL, 0,
                       NI_NUMERICHOST);
  if (rc != 0) return rc;
  snprintf(endpoint->address, ADDRESS_MAX, "%s:%s", ip, host->port);
  endpoint->name = host->name;
  all->count++;
  return 0;
}

static void note_error(struct resolver *r, const char *name, int rc,
                       const char *words) {
  snprintf(r->error, sizeof r->error, "%.60s: %s", name, words);
  if (rc == EAI_AGAIN) r->temporary = true;
}

/* Looks up the host and adds its addresses to `all`. Returns false only if
 * there is no memory. If the lookup fails, records the error and returns
 * true. */
static bool add_host(struct resolver *r, struct endpoints *all,
                     const struct host *host) {
  struct addrinfo *found;
  int rc = look_up(host->name, AI_NUMERICHOST, &found);
  if (rc != 0 && fork_forbids_lookups()) {
    note_error(r, host->name, EAI_FAIL,
               "this process was forked during a look-up, and can look up no "
               "name: use a numeric address");
    return true;
  }
  if (rc != 0) rc = look_up(host->name, 0, &found);
  if (rc == 0) {
    for (struct addrinfo *a = found; a && rc == 0; a = a->ai_next)
      rc = add(all, a, host);
    freeaddrinfo(found);
  }
  if (rc != 0) note_error(r, host->name, rc, gai_strerror(rc));
  return rc != EAI_MEMORY;
}

/* Returns the addresses as one text, or NULL if there is no memory. Each
 * address is in the text once, followed by the names of all hosts that have
 * it. */
static char *join(struct endpoints *all) {
  size_t size = 1;
  for (size_t i = 0; i < all->count; i++)
    size += ADDRESS_MAX + strlen(all->list[i].name) + 2;
  char *text = malloc(size), *end = text;
  if (!text) return NULL;
  if (all->count) qsort(all->list, all->count, sizeof *all->list, by_text);
  *end = '\0';
  for (size_t i = 0; i < all->count; i++) {
    const struct endpoint *e = &all->list[i], *last = i > 0 ? e - 1 : NULL;
    if (last && by_text(e, last) == 0) continue;
    if (!last || strcmp(e->address, last->address) != 0)
      end += sprintf(end, "%s%s", last ? "," : "", e->address);
    end += sprintf(end, " %s", e->name);
  }
  return text;
}

/* Looks up all hosts and stores the result. If memory runs out, the result has
 * no address at all. A partial result could lack the address of the only
 * reachable server. */
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
  fork_lookup_begin();
  resolve(r);
  pthread_mutex_lock(&r->lock);
  r->done = true;
  if (r->wakeup) wakeup_signal(r->wakeup);
  pthread_mutex_unlock(&r->lock);
  release(r);
  fork_lookup_end();
  return NULL;
}

/* Starts a thread that looks up the hosts. If all hosts are numeric addresses,
 * starts no thread, and the result is there at once. Returns NULL if there is
 * no memory or the system cannot start a thread. */
static struct resolver *start(const struct hosts *hosts,
                              const struct wakeup *wakeup) {
  size_t size = (size_t)hosts->count * sizeof(struct host);
  struct resolver *r = calloc(1, sizeof *r + size);
  if (!r) return NULL;
  pthread_mutex_init(&r->lock, NULL);
  r->references = 2;
  r->wakeup = wakeup;
  r->count = hosts->count;
  memcpy(r->hosts, hosts->list, size);
  if (are_numeric(hosts)) { /* needs no thread */
    resolve(r);
    r->done = true;
    r->references = 1;
    return r;
  }
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  /* The caller has blocked all signals. The new thread inherits this. */
  int rc = pthread_create(&thread, &attributes, run, r);
  pthread_attr_destroy(&attributes);
  if (rc == 0) return r;
  r->references = 1;
  release(r);
  return NULL;
}

/* The schedule of lookups. */

void host_lookup_init(struct host_lookup *w, const struct hosts *hosts,
                      const struct wakeup *wakeup) {
  *w = (struct host_lookup){.hosts = hosts,
                            .wakeup = wakeup,
                            .due = NEVER,
                            .pause = PAUSE_FIRST};
}

void host_lookup_ask(struct host_lookup *w) {
  w->due = NEVER;
  if (w->resolver) return;
  w->resolver = start(w->hosts, w->wakeup);
  if (!w->resolver) host_lookup_ask_in(w, RETRY_AFTER);
}

void host_lookup_ask_in(struct host_lookup *w, int64_t pause) {
  w->due = clock_now() + pause;
}

void host_lookup_ask_again(struct host_lookup *w) {
  if (!are_numeric(w->hosts)) host_lookup_ask_in(w, w->pause);
}

void host_lookup_ask_after_loss(struct host_lookup *w) {
  w->pause = PAUSE_FIRST;
  host_lookup_ask_again(w);
}

void host_lookup_cancel(struct host_lookup *w) { w->due = NEVER; }

const char *host_lookup_answer(struct host_lookup *w, const char **error,
                               bool *temporary) {
  struct resolver *r = w->resolver;
  if (!r) return NULL;
  pthread_mutex_lock(&r->lock);
  bool done = r->done;
  pthread_mutex_unlock(&r->lock);
  if (!done) return NULL;
  w->pause = w->pause / 2 * 3;
  if (w->pause > PAUSE_MAX) w->pause = PAUSE_MAX;
  *error = r->error;
  *temporary = r->temporary;
  return r->result ? r->result : "";
}

void host_lookup_done(struct host_lookup *w) {
  struct resolver *r = w->resolver;
  if (!r) return;
  w->resolver = NULL;
  pthread_mutex_lock(&r->lock);
  r->wakeup = NULL;
  pthread_mutex_unlock(&r->lock);
  release(r);
}
