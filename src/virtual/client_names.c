/* Defines the constants of zookeeper.h and the texts of its error codes. Also
 * defines the functions that fill in the parts of a transaction. */
#include <string.h>

#include "client_inside.h"

const int ZOO_PERM_READ = 1;
const int ZOO_PERM_WRITE = 2;
const int ZOO_PERM_CREATE = 4;
const int ZOO_PERM_DELETE = 8;
const int ZOO_PERM_ADMIN = 16;
const int ZOO_PERM_ALL = 31;

const int ZOOKEEPER_WRITE = 1;
const int ZOOKEEPER_READ = 2;

const int ZOO_PERSISTENT = ZK_PERSISTENT;
const int ZOO_EPHEMERAL = ZK_EPHEMERAL;
const int ZOO_PERSISTENT_SEQUENTIAL = ZK_SEQUENTIAL;
const int ZOO_EPHEMERAL_SEQUENTIAL = ZK_EPHEMERAL_SEQUENTIAL;
const int ZOO_CONTAINER = ZK_CONTAINER;

const int ZOO_EXPIRED_SESSION_STATE = -112;
const int ZOO_AUTH_FAILED_STATE = -113;
const int ZOO_CONNECTING_STATE = 1;
const int ZOO_ASSOCIATING_STATE = 2;
const int ZOO_CONNECTED_STATE = 3;
const int ZOO_NOTCONNECTED_STATE = 999;

const int ZOO_CREATED_EVENT = ZK_NODE_CREATED;
const int ZOO_DELETED_EVENT = ZK_NODE_DELETED;
const int ZOO_CHANGED_EVENT = ZK_NODE_CHANGED;
const int ZOO_CHILD_EVENT = ZK_CHILDREN_CHANGED;
const int ZOO_SESSION_EVENT = -1;

struct Id ZOO_ANYONE_ID_UNSAFE = {"world", "anyone"};
static struct ACL open_acl = {31, {"world", "anyone"}};
struct ACL_vector ZOO_OPEN_ACL_UNSAFE = {1, &open_acl};

static const struct {
  int code;
  const char *words;
} words[] = {
    {ZOK, "ok"},
    {ZSYSTEMERROR, "system error"},
    {ZRUNTIMEINCONSISTENCY, "run time inconsistency"},
    {ZDATAINCONSISTENCY, "data inconsistency"},
    {ZCONNECTIONLOSS, "connection loss"},
    {ZMARSHALLINGERROR, "marshalling error"},
    {ZUNIMPLEMENTED, "unimplemented"},
    {ZOPERATIONTIMEOUT, "operation timeout"},
    {ZBADARGUMENTS, "bad arguments"},
    {ZINVALIDSTATE, "invalid zhandle state"},
    {ZAPIERROR, "api error"},
    {ZNONODE, "no node"},
    {ZNOAUTH, "not authenticated"},
    {ZBADVERSION, "bad version"},
    {ZNOCHILDRENFOREPHEMERALS, "no children for ephemerals"},
    {ZNODEEXISTS, "node exists"},
    {ZNOTEMPTY, "not empty"},
    {ZSESSIONEXPIRED, "session expired"},
    {ZINVALIDCALLBACK, "invalid callback"},
    {ZINVALIDACL, "invalid acl"},
    {ZAUTHFAILED, "authentication failed"},
    {ZCLOSING, "zookeeper is closing"},
    {ZNOTHING, "(not error) no server responses to process"},
    {ZSESSIONMOVED, "session moved to another server, so operation is ignored"},
    {ZNOTREADONLY, "state-changing request is passed to read-only server"},
    {ZEPHEMERALONLOCALSESSION,
     "attempt to create ephemeral node on a local session"},
    {ZNOWATCHER, "the watcher couldn't be found"},
};

const char *zerror(int code) {
  if (code > 0) return strerror(code);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (words[i].code == code) return words[i].words;
  return "unknown error";
}

void zoo_create_op_init(zoo_op_t *op, const char *path, const char *value,
                        int size, const struct ACL_vector *acl, int mode,
                        char *path_buffer, int room) {
  *op = (zoo_op_t){.type =
                       mode == ZK_CONTAINER ? ZK_CREATE_CONTAINER : ZK_CREATE};
  op->create_op.path = path;
  op->create_op.data = value;
  op->create_op.datalen = size;
  op->create_op.acl = acl;
  op->create_op.flags = mode;
  op->create_op.buf = path_buffer;
  op->create_op.buflen = room;
}

void zoo_delete_op_init(zoo_op_t *op, const char *path, int version) {
  *op = (zoo_op_t){.type = ZK_DELETE};
  op->delete_op.path = path;
  op->delete_op.version = version;
}

void zoo_set_op_init(zoo_op_t *op, const char *path, const char *value,
                     int size, int version, struct Stat *stat) {
  *op = (zoo_op_t){.type = ZK_SET_DATA};
  op->set_op.path = path;
  op->set_op.data = value;
  op->set_op.datalen = size;
  op->set_op.version = version;
  op->set_op.stat = stat;
}

void zoo_check_op_init(zoo_op_t *op, const char *path, int version) {
  *op = (zoo_op_t){.type = ZK_CHECK};
  op->check_op.path = path;
  op->check_op.version = version;
}
