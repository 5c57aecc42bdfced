#include "log.h"

#include <string.h>

enum { FORGET_AFTER = 256 };

int64_t log_last(const struct server *server) {
  int64_t applied = server->tree->zxid;
  if (server->log_count == 0) return applied;
  int64_t last = server->log[server->log_count - 1]->zxid;
  return last > applied ? last : applied;
}

int log_place(const struct server *server, int64_t zxid) {
  int low = 0, high = server->log_count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (server->log[middle]->zxid <= zxid)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void log_append(struct server *server, struct txn *txn) {
  server->log = with_room(server->log, server->log_count, &server->log_room,
                          sizeof *server->log);
  server->log[server->log_count++] = txn_keep(txn);
}

void log_cut(struct server *server, int count) {
  while (server->log_count > count) txn_drop(server->log[--server->log_count]);
}

static bool has(const struct server *server, const struct txn *txn) {
  int place = log_place(server, txn->zxid);
  return place > 0 && server->log[place - 1] == txn;
}

void log_adopt(struct server *server, const struct server *leader) {
  int common = server->log_count;
  int applied = log_place(server, server->tree->zxid);
  while (common > applied && !has(leader, server->log[common - 1])) common--;
  log_cut(server, common);
  for (int i = log_place(leader, log_last(server)); i < leader->log_count; i++)
    log_append(server, leader->log[i]);
  server->logged = log_last(server);
}

void log_forget(struct ensemble *e) {
  if (++e->applied < FORGET_AFTER) return;
  e->applied = 0;
  int64_t all = INT64_MAX;
  for (int i = 0; i < e->settings.servers; i++)
    if (e->servers[i].tree->zxid < all) all = e->servers[i].tree->zxid;
  for (int i = 0; i < e->settings.servers; i++) {
    struct server *s = &e->servers[i];
    int gone = log_place(s, all);
    for (int j = 0; j < gone; j++) txn_drop(s->log[j]);
    s->log_count -= gone;
    memmove(s->log, s->log + gone, (size_t)s->log_count * sizeof *s->log);
  }
}
