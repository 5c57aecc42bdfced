/* Delivers the virtual servers' replies and events to src/io, as the client
 * library does. A reply goes to the completion: the callback that was passed
 * with the request. The event of a watched path goes to the handle's watcher
 * function. */
#include <stdlib.h>
#include <string.h>

#include "client_inside.h"

/* ---- Completions --------------------------------------------------------- */

static struct Stat stat_of(const struct zk_stat *stat) {
  return (struct Stat){.czxid = stat->czxid,
                       .mzxid = stat->mzxid,
                       .ctime = stat->ctime,
                       .mtime = stat->mtime,
                       .version = stat->version,
                       .cversion = stat->cversion,
                       .aversion = stat->aversion,
                       .ephemeralOwner = stat->owner,
                       .dataLength = stat->length,
                       .numChildren = stat->children,
                       .pzxid = stat->pzxid};
}

static void put_value(const zoo_op_t *op, zoo_op_result_t *result,
                      const struct zk_reply *part) {
  if (op->type == ZK_CREATE && op->create_op.buf && op->create_op.buflen > 0) {
    size_t size = strlen(part->path), room = (size_t)op->create_op.buflen - 1;
    if (size > room) size = room;
    memcpy(op->create_op.buf, part->path, size);
    op->create_op.buf[size] = '\0';
    result->value = op->create_op.buf;
    result->valuelen = (int)size;
  }
  if (op->type == ZK_SET_DATA && op->set_op.stat) {
    *op->set_op.stat = stat_of(&part->stat);
    result->stat = op->set_op.stat;
  }
}

/* Sets the results of a transaction's parts. Returns ZOK, or the code of the
 * refused part. As in the library, parts before the refused part get ZOK,
 * although the server has changed nothing. Parts after it get
 * ZRUNTIMEINCONSISTENCY. If a server refuses the whole transaction, each part
 * gets the transaction's code. */
static int put_results(const struct outstanding *asked,
                       const struct zk_reply *reply) {
  int rc = reply->part_count > 0 ? ZOK : reply->rc;
  for (int i = 0; i < asked->part_count; i++) {
    int own = i < reply->part_count ? reply->parts[i].rc : reply->rc;
    asked->results[i].err = own;
    if (rc == ZOK && own != ZRUNTIMEINCONSISTENCY) rc = own;
  }
  for (int i = 0; rc == ZOK && i < reply->part_count; i++)
    put_value(&asked->parts[i], &asked->results[i], &reply->parts[i]);
  return rc;
}

static void complete_strings(const struct outstanding *asked,
                             const struct zk_reply *reply) {
  struct String_vector names = {.count = reply->names.count};
  union {
    const char *const *read_only;
    char **data;
  } list = {reply->names.list};
  struct Stat stat = stat_of(&reply->stat);
  bool ok = reply->rc == ZOK;
  names.data = list.data;
  if (asked->op == ZK_GET_CHILDREN2)
    asked->on_names(reply->rc, ok ? &names : NULL, ok ? &stat : NULL,
                    asked->data);
  else
    asked->on_strings(reply->rc, ok ? &names : NULL, asked->data);
}

static void complete(const struct outstanding *asked,
                     const struct zk_reply *reply) {
  struct Stat stat = stat_of(&reply->stat);
  bool ok = reply->rc == ZOK;
  switch (asked->op) {
    case ZK_CREATE2:
    case ZK_CREATE_CONTAINER:
      asked->on_created(reply->rc, ok ? reply->path : NULL, ok ? &stat : NULL,
                        asked->data);
      break;
    case ZK_EXISTS:
    case ZK_SET_DATA:
      asked->on_stat(reply->rc, ok ? &stat : NULL, asked->data);
      break;
    case ZK_GET_DATA:
      asked->on_data(reply->rc, ok ? reply->data.bytes : NULL,
                     ok ? reply->data.length : -1, ok ? &stat : NULL,
                     asked->data);
      break;
    case ZK_GET_CHILDREN:
    case ZK_GET_CHILDREN2:
      complete_strings(asked, reply);
      break;
    case ZK_SYNC:
      asked->on_string(reply->rc, ok ? reply->path : NULL, asked->data);
      break;
    case ZK_MULTI:
      asked->on_void(put_results(asked, reply), asked->data);
      break;
    default:
      asked->on_void(reply->rc, asked->data);
  }
}

/* ---- Watches ------------------------------------------------------------- */

static void watch(zhandle_t *zh, const struct outstanding *asked, int rc) {
  if (asked->op == ZK_REMOVE_WATCHES) {
    if (rc == ZOK) watched_remove(&zh->watches, asked->path, asked->watch);
  } else if (asked->watch && rc == ZOK) {
    watched_add(&zh->watches, asked->path,
                asked->watch == WATCH_EXISTS ? WATCH_DATA : asked->watch);
  } else if (asked->watch == WATCH_EXISTS && rc == ZNONODE) {
    watched_add(&zh->watches, asked->path, WATCH_EXISTS);
  }
}

void client_hear(zhandle_t *zh, const struct zk_event *event) {
  int kinds = event->type == ZK_CHILDREN_CHANGED ? WATCH_CHILDREN_OF
              : event->type == ZK_NODE_DELETED
                  ? WATCH_DATA | WATCH_EXISTS | WATCH_CHILDREN_OF
                  : WATCH_DATA | WATCH_EXISTS;
  if (!watched_find(&zh->watches, event->path, kinds)) return;
  watched_remove(&zh->watches, event->path, kinds);
  zh->watcher(zh, (int)event->type, zh->state, event->path, zh->context);
}

/* ---- Requests in order --------------------------------------------------- */

static void outstanding_free(struct outstanding *asked) {
  free(asked->path);
  free(asked->parts);
  free(asked);
}

void client_answer(zhandle_t *zh, const struct zk_reply *reply) {
  struct outstanding *asked = zh->first;
  zh->first = asked->next;
  if (!zh->first) zh->end = &zh->first;
  watch(zh, asked, reply->rc);
  complete(asked, reply);
  outstanding_free(asked);
}

void client_answer_all(zhandle_t *zh, int rc) {
  struct zk_reply reply = {.rc = rc};
  while (zh->first) client_answer(zh, &reply);
}

void client_tell_state(zhandle_t *zh, int state) {
  zh->watcher(zh, ZOO_SESSION_EVENT, state, "", zh->context);
}
