#include "watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"

/* Finding watches. */

static uint32_t hash_of(const char *name) {
  return (uint32_t)hash_text(HASH_BEGIN, name, strlen(name));
}

static struct watch *find(const struct watches *watches, const char *name) {
  uint32_t hash = hash_of(name);
  for (struct watch *w = watches->first; w; w = w->next)
    if (w->hash == hash && strcmp(w->name, name) == 0) return w;
  return NULL;
}

const char *watch_name(const struct watcher *watcher) {
  return watcher->watch ? watcher->watch->name : NULL;
}

static void warn(const struct watch *w, const char *message, int rc) {
  char path[2048]; /* no message shows a longer path */
  snprintf(path, sizeof path, "%s/%s", w->of->path, w->name);
  pipeline_warn(w->of->pipeline, message, path, rc);
}

void watch_warn(const struct watcher *watcher, const char *message, int rc) {
  if (watcher->watch) warn(watcher->watch, message, rc);
}

int watch_data(const struct watches *watches, const char *name,
               const void **data) {
  const struct watch *w = find(watches, name);
  if (!w) return 0;
  *data = w->data;
  return w->size;
}

/* Sending requests. */

static op_handler on_reply;

static bool is_asking(const struct watch *w) {
  return w->request && w->request->op.in_flight;
}

static struct watch_request *new_request(struct watch *w) {
  size_t directory = w->of->length, name = strlen(w->name) + 1;
  struct watch_request *e = calloc(1, sizeof *e + directory + 1 + name);
  if (!e) return NULL;
  memcpy(e->path, w->of->path, directory);
  e->path[directory] = '/';
  memcpy(e->path + directory + 1, w->name, name);
  e->op = (struct op){.handler = on_reply, .owner = w, .path = e->path};
  return e;
}

static void end_request(struct watch *w) {
  if (is_asking(w)) return;
  free(w->request);
  w->request = NULL;
}

/* Sends a request about the node. Returns false if the request was not sent:
 * there is no connection, or the caller must try again. */
static bool ask(struct watch *w, enum op_kind kind) {
  struct pipeline *pipeline = w->of->pipeline;
  if (!pipeline->connected) return false;
  if (!w->request) w->request = new_request(w);
  if (!w->request) {
    pipeline_retry(pipeline);
    return false;
  }
  w->request->op.kind = kind;
  if (pipeline_submit(pipeline, &w->request->op)) return true;
  end_request(w);
  return false;
}

/* Ending a watch. */

static bool is_of_this_connection(const struct watch *w, unsigned connection) {
  const struct pipeline *pipeline = w->of->pipeline;
  return pipeline->connected && connection == pipeline->connection;
}

/* Returns whether a server has the watch, as far as this session knows from
 * replies and events. */
static bool is_at_server(const struct watch *w) {
  return is_of_this_connection(w, w->armed_in);
}

static bool is_hidden(const struct watch *w) {
  return is_of_this_connection(w, w->hidden_in);
}

/* Returns whether a server has reported the node in this connection, and no
 * event has come since. */
static bool is_known(const struct watch *w) {
  return is_at_server(w) || is_hidden(w);
}

/* Returns whether a server has the watch and will send its event. */
static bool is_armed(const struct watch *w) {
  return is_at_server(w) && !is_hidden(w);
}

static void destroy(struct deferred_call *call) {
  struct watch *w =
      (struct watch *)((char *)call - offsetof(struct watch, end));
  struct watches *of = w->of;
  if (w->wanted > 0 || is_asking(w)) return; /* another watcher has come */
  struct watch **link = &of->first;
  while (*link != w) link = &(*link)->next;
  *link = w->next;
  counter_add(&of->pipeline->counters.watches, -1);
  deferred_call_add(&of->pipeline->batch, of->wake);
  free(w->request);
  free(w->data);
  free(w);
}

/* Removes a watch that has no watchers. Also removes the watch at the server,
 * if the server has it. If a server refuses that, its event finds no watch. */
static void remove_if_unused(struct watch *w) {
  if (w->wanted > 0 || is_asking(w)) return;
  if (is_at_server(w)) {
    w->armed_in = 0;
    if (ask(w, OP_UNWATCH)) return;
  }
  deferred_call_add(&w->of->pipeline->step, &w->end);
}

/* Arming watches. */

bool watch_is_armed(const struct watcher *watcher) {
  return watcher->watch && is_armed(watcher->watch);
}

bool watch_is_known(const struct watcher *watcher) {
  return watcher->watch && is_known(watcher->watch);
}

bool watch_is_hidden(const struct watcher *watcher) {
  return watcher->watch && is_hidden(watcher->watch);
}

bool watch_is_of(const struct watcher *watcher, int64_t czxid) {
  return watch_is_armed(watcher) && watcher->watch->czxid == czxid;
}

bool watch_was_of(const struct watcher *watcher, int64_t czxid) {
  return watcher->watch && watcher->watch->czxid == czxid;
}

bool watch_is_for(const struct watcher *watcher, const char *name) {
  return watcher->watch && strcmp(watcher->watch->name, name) == 0;
}

bool watch_is_revoked(const struct watcher *watcher) {
  return watcher->watch && watcher->watch->revoked;
}

static void read(struct watch *w) {
  if (!is_asking(w) && !pipeline_must_pause(w->of->pipeline, &w->of->backoff))
    ask(w, w->awaited ? OP_EXISTS : OP_GET);
}

bool watch_is_asking(const struct watcher *watcher) {
  return watcher->watch && is_asking(watcher->watch);
}

void watch_await(const struct watcher *watcher) {
  if (watcher->watch) watcher->watch->awaited = true;
}

int64_t watch_seen(const struct watcher *watcher) {
  bool seen = watch_is_known(watcher) && !watch_is_hidden(watcher);
  return seen ? watcher->watch->czxid : 0;
}

void watch_read(const struct watcher *watcher) {
  if (watcher->watch) read(watcher->watch);
}

void watch_arm(const struct watcher *watcher) {
  struct watch *w = watcher->watch;
  if (w && !is_known(w)) read(w);
}

/* Watchers. */

void watcher_init(struct watcher *watcher, const struct watcher_role *role) {
  *watcher = (struct watcher){.role = role};
}

static void put_at(struct watcher **link, struct watcher *watcher) {
  watcher->next = *link;
  watcher->link = link;
  if (watcher->next) watcher->next->link = &watcher->next;
  *link = watcher;
}

static void join(struct watch *w, struct watcher *watcher) {
  watcher->watch = w;
  put_at(watcher->role->first ? &w->watchers : w->watchers_end, watcher);
  if (!watcher->next) w->watchers_end = &watcher->next;
}

static void leave(struct watcher *watcher) {
  struct watch *w = watcher->watch;
  *watcher->link = watcher->next;
  if (watcher->next) watcher->next->link = watcher->link;
  if (w->watchers_end == &watcher->next) w->watchers_end = watcher->link;
  watcher->watch = NULL;
}

void watch_drop(struct watcher *watcher) {
  struct watch *w = watcher->watch;
  if (!w) return;
  leave(watcher);
  w->wanted--;
  remove_if_unused(w);
}

/* Calls all watchers. A watcher's function can make other watchers leave or
 * join; those that join must not be called. So each watcher is moved to the end
 * of another list before its call. New watchers join that list, too. Meanwhile
 * `wanted` is greater by one, so that the watch is not freed. */
static void notify_watchers(struct watch *w, enum watch_news news,
                            const struct reply *reply) {
  struct watcher *left = w->watchers;
  if (left) left->link = &left;
  w->watchers = NULL;
  w->watchers_end = &w->watchers;
  w->wanted++;
  while (left) {
    struct watcher *watcher = left;
    left = watcher->next;
    if (left) left->link = &left;
    put_at(w->watchers_end, watcher);
    w->watchers_end = &watcher->next;
    watcher->role->on_news(watcher, news, reply);
  }
  w->wanted--;
  remove_if_unused(w);
}

/* Replies and events. */

static bool is_ours(const struct watch *w) {
  return w->of->is_ours(w->of, w->name);
}

/* Stores the node's data, but not the data of this session's own nodes. The
 * data only appear in messages, so zklock ignores a lack of memory here. */
static void store_data(struct watch *w, const struct reply *reply) {
  bool useful = reply->size > 0 && reply->data && !is_ours(w);
  int size = useful ? reply->size : 0;
  size_t shown = (size_t)(size < OP_SHOWN ? size : OP_SHOWN);
  free(w->data);
  w->data = size > 0 ? malloc(shown) : NULL;
  w->size = w->data ? size : 0;
  if (w->data) memcpy(w->data, reply->data, shown);
}

/* Logs that a server has refused the watch, and begins a pause. */
static void on_refused(struct watch *w, int rc) {
  warn(w, "cannot watch", rc);
  pipeline_back_off(w->of->pipeline, &w->of->backoff, rc);
  remove_if_unused(w);
}

/* Reports a node whose ACL forbids reading, and schedules a poll. The node
 * exists: a server looks for the node before it checks the ACL. */
static void on_hidden(struct watch *w, const struct reply *reply) {
  pipeline_poll_later(w->of->pipeline);
  w->hidden_in = w->of->pipeline->connection;
  notify_watchers(w, WATCH_HIDDEN, reply);
}

static void on_read(struct watch *w, const struct reply *reply) {
  unsigned connection = w->of->pipeline->connection;
  w->hidden_in = 0;
  if (reply->rc == REPLY_OK) {
    refusals_end(&w->of->backoff);
    w->armed_in = connection;
    w->revoked = reply->revoked;
    w->czxid = reply->czxid;
    store_data(w, reply);
    notify_watchers(w, WATCH_ARMED, reply);
  } else if (reply->rc == REPLY_NO_NODE) {
    /* `exists` arms a watch even if the node is missing. That watch is removed
     * later. */
    if (w->request->op.kind == OP_EXISTS) w->armed_in = connection;
    w->czxid = 0;
    notify_watchers(w, WATCH_GONE, reply);
  } else if (reply->rc == REPLY_NO_AUTH) {
    on_hidden(w, reply);
  } else if (reply_is_unknown(reply->rc)) {
    remove_if_unused(w);
  } else {
    on_refused(w, reply->rc);
  }
}

/* What servers do if a node's ACL forbids a session to read it:
 *
 *                                   getData   exists           a watch's event
 *   before 3.8.4 and 3.9.2          NO_AUTH   OK, and arms it  is sent
 *   with CVE-2024-23944 fixed       NO_AUTH   OK, and arms it  is not sent
 *   3.8.4, 3.9.2 and later          NO_AUTH   NO_AUTH          is not sent
 *
 * All of them look for the node first. If it is missing, the reply is NO_NODE,
 * and `exists` arms a watch of its creation. If the ACL of the new node forbids
 * reading, servers do not send the event of this creation either. A watch whose
 * event is not sent is gone, and a waiter would wait forever.
 *
 * So zklock polls each node that the session may not read, or that can be
 * missing, at least each T/6. NO_AUTH proves that there is a node, NO_NODE that
 * there is none. zklock concludes nothing else, because by the next poll
 * another node may have the same name.
 *
 * A poll of one node costs the same however long the queue is. A list of the
 * directory would send all names to each waiter. */
static bool is_polled(const struct watch *w) {
  return w->awaited || is_hidden(w);
}

/* Returns whether the server has lost the watch without an event. The client
 * library removes its half of a watch only together with the server's half. So
 * zklock arms another watch, on the missing node, and then removes both
 * halves. */
static bool was_lost_silently(const struct watch *w,
                              const struct reply *reply) {
  return w->awaited && reply->rc == REPLY_NO_WATCH;
}

void watches_poll(struct watches *watches) {
  for (struct watch *w = watches->first; w; w = w->next) {
    if (!is_polled(w) || w->wanted == 0 || !is_known(w)) continue;
    pipeline_poll_later(watches->pipeline);
    read(w);
  }
}

static void on_reply(struct op *op, const struct reply *reply) {
  struct watch *w = op->owner;
  if (w->awaited) pipeline_poll_later(w->of->pipeline);
  if (op->kind != OP_UNWATCH)
    on_read(w, reply);
  else if (w->wanted > 0)
    read(w); /* another watcher has come meanwhile */
  else if (!was_lost_silently(w, reply) || !ask(w, OP_EXISTS))
    remove_if_unused(w);
  end_request(w);
}

/* The czxid of a node that has not been read yet. It differs from 0, the czxid
 * of a missing node. The difference matters, because an event can come before
 * the first read. Such an event comes from an old watch that zklock lacked the
 * memory to remove. */
enum { NEVER_READ = -1 };

static struct watch *watch_new(struct watches *watches, const char *name) {
  size_t size = strlen(name) + 1;
  struct watch *w = calloc(1, offsetof(struct watch, name) + size);
  if (!w) return NULL;
  memcpy(w->name, name, size);
  w->of = watches;
  w->watchers_end = &w->watchers;
  w->hash = hash_of(name);
  w->czxid = NEVER_READ;
  w->end = (struct deferred_call){.run = destroy};
  w->next = watches->first;
  watches->first = w;
  counter_add(&watches->pipeline->counters.watches, 1);
  return w;
}

bool watch_want(struct watcher *watcher, struct watches *watches,
                const char *name) {
  if (watcher->watch && name && strcmp(watcher->watch->name, name) == 0)
    return true;
  struct watch *w = name ? find(watches, name) : NULL;
  if (name && !w) w = watch_new(watches, name);
  watch_drop(watcher);
  if (!w) return !name;
  w->wanted++;
  join(w, watcher);
  return true;
}

void watches_fired(struct watches *watches, const char *name,
                   enum watch_event event) {
  struct watch *w = find(watches, name);
  if (!w) return;
  w->armed_in = w->hidden_in = 0;
  notify_watchers(w, event == WATCH_DELETED ? WATCH_GONE : WATCH_STALE, NULL);
}

void watches_sweep(struct watches *watches) {
  for (struct watch *w = watches->first; w; w = w->next) remove_if_unused(w);
}
