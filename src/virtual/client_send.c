/* Sends the requests of a handle, and writes a line of the trace for each. */
#include "client_inside.h"
#include "schedule.h"
#include "trace.h"

static const char *word_of(enum zk_op op) {
  switch (op) {
    case ZK_CREATE:
    case ZK_CREATE2:
      return "create";
    case ZK_CREATE_CONTAINER:
      return "create container";
    case ZK_DELETE:
      return "delete";
    case ZK_EXISTS:
      return "exists";
    case ZK_GET_DATA:
      return "get";
    case ZK_SET_DATA:
      return "set";
    case ZK_GET_CHILDREN:
    case ZK_GET_CHILDREN2:
      return "list";
    case ZK_SYNC:
      return "sync";
    case ZK_PING:
      return "ping";
    case ZK_CHECK:
      return "check";
    case ZK_MULTI:
      return "multi";
    case ZK_REMOVE_WATCHES:
      return "remove watches";
    case ZK_AUTH:
      return "auth";
    case ZK_CLOSE_SESSION:
      return "close";
    default:
      return "?";
  }
}

bool client_is_connected(const zhandle_t *zh) {
  return zh->state == ZOO_CONNECTED_STATE;
}

static void trace_request(const zhandle_t *zh, const struct zk_request *r) {
  if (!trace_is_on()) return;
  trace(schedule_now(), "client %d asks %d: %s %s%s", zh->number, (int)r->xid,
        word_of(r->op), r->path ? r->path : "", r->watch ? " watch" : "");
  for (int i = 0; i < r->part_count; i++)
    trace(schedule_now(), "client %d ... %s %s", zh->number,
          word_of(r->parts[i].op), r->parts[i].path);
}

void client_send(zhandle_t *zh, const struct zk_request *request) {
  if (!zh->line) return;
  trace_request(zh, request);
  zh->last_sent = schedule_now();
  line_send(zh->line, request);
}

void client_send_auth(zhandle_t *zh, const struct auth *auth) {
  struct zk_request request = {.xid = XID_AUTH,
                               .op = ZK_AUTH,
                               .scheme = auth->scheme,
                               .data = {auth->secret, auth->size}};
  client_send(zh, &request);
}
