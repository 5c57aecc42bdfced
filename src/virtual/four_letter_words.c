/* The answers of a server to four-letter words, such as `mntr` (operator.h). */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"
#include "operator.h"

struct text {
  char *bytes;
  size_t length, room;
};

static void add(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add(struct text *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (text->length + (size_t)length + 1 > text->room) {
    text->room = 2 * (text->length + (size_t)length + 1);
    text->bytes = regrown(text->bytes, text->room);
  }
  va_start(arguments, format);
  vsnprintf(text->bytes + text->length, (size_t)length + 1, format, arguments);
  va_end(arguments);
  text->length += (size_t)length;
}

#define EACH_CONNECTION(c, of)                                                \
  for (struct zk_connection *c = (of)->ensemble->connections; c; c = c->next) \
    if (c->server == (of) && c->server_has_it)

static void write_connections(struct text *text, const struct server *server) {
  EACH_CONNECTION(c, server) {
    add(text, " /127.0.0.1:%d[1](queued=0,recved=%d,sent=%d",
        (int)(32768 + c->order % 28000), c->received, c->sent);
    if (c->established)
      add(text, ",sid=0x%" PRIx64 ",to=%d", (uint64_t)c->session,
          (int)c->timeout_ms);
    add(text, ")\n");
  }
  add(text, "\n");
}

static void write_watches(struct text *text, const struct server *server,
                          bool child) {
  const char *path = NULL;
  for (int i = 0; i < server->watches.count; i++) {
    const struct watch_entry *w = &server->watches.list[i];
    if (w->child != child) continue;
    if (!path || strcmp(path, w->path) != 0) add(text, "%s\n", w->path);
    add(text, "\t0x%" PRIx64 "\n", (uint64_t)w->connection->session);
    path = w->path;
  }
}

static void count_nodes(const struct node *node, int64_t *nodes,
                        int64_t *bytes) {
  ++*nodes;
  *bytes += (int64_t)strlen(node->name) + 1 + blob_length(node->state.data);
  for (int i = 0; i < node->count; i++)
    count_nodes(node->children[i], nodes, bytes);
}

static const char *state_of(const struct server *server) {
  if (server->ensemble->settings.servers == 1) return "standalone";
  if (server->role == LEADING) return "leader";
  return server->observer ? "observer" : "follower";
}

static void write_monitor(struct text *text, const struct server *server) {
  int64_t nodes = 1, bytes = 0;
  int ephemerals = 0, connections = 0;
  count_nodes(server->tree->root, &nodes, &bytes);
  for (struct node *n = server->tree->first_owned; n; n = n->next_owned)
    ephemerals += node_is_ephemeral(n);
  EACH_CONNECTION(c, server) connections++;
  add(text, "zk_version\t3.8.0\nzk_server_state\t%s\n", state_of(server));
  add(text, "zk_num_alive_connections\t%d\n", connections);
  add(text, "zk_packets_received\t%" PRId64 "\n", server->received);
  add(text, "zk_packets_sent\t%" PRId64 "\n", server->sent);
  add(text, "zk_znode_count\t%" PRId64 "\n", nodes);
  add(text, "zk_approximate_data_size\t%" PRId64 "\n", bytes);
  add(text, "zk_watch_count\t%d\n", server->watches.count);
  add(text, "zk_ephemerals_count\t%d\n", ephemerals);
  add(text, "zk_global_sessions\t%d\n", server->tree->session_count);
}

static void write_server(struct text *text, const struct server *server) {
  int64_t nodes = 1, bytes = 0;
  int connections = 0;
  count_nodes(server->tree->root, &nodes, &bytes);
  EACH_CONNECTION(c, server) connections++;
  add(text, "Zookeeper version: 3.8.0\nReceived: %" PRId64 "\nSent: %" PRId64,
      server->received, server->sent);
  add(text, "\nConnections: %d\nOutstanding: 0\nZxid: 0x%" PRIx64, connections,
      (uint64_t)server->tree->zxid);
  add(text, "\nMode: %s\nNode count: %" PRId64 "\n", state_of(server), nodes);
}

char *server_four_letter_word(struct ensemble *e, int number,
                              const char *word) {
  struct text text = {.bytes = NULL};
  struct server *server = &e->servers[number];
  if (!server->running || server->paused) return NULL;
  server->received++; /* the four-letter word is a packet, too */
  if (!server->serving) {
    add(&text, "This ZooKeeper instance is not currently serving requests\n");
  } else if (strcmp(word, "cons") == 0) {
    write_connections(&text, server);
  } else if (strcmp(word, "wchp") == 0) {
    write_watches(&text, server, false);
    write_watches(&text, server, true);
  } else if (strcmp(word, "mntr") == 0) {
    write_monitor(&text, server);
  } else if (strcmp(word, "srvr") == 0) {
    write_server(&text, server);
  } else {
    add(&text, "%s is not executed because it is not in the whitelist.\n",
        word);
  }
  add(&text, "%s", "");
  return text.bytes;
}
