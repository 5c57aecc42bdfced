#include "library_codes.h"

#include <errno.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include "fork.h"
#include "protocol/op.h"

#define SAME(ours, theirs) \
  _Static_assert((int)(ours) == (int)(theirs), "a code of ZooKeeper's")
SAME(REPLY_OK, ZOK);
SAME(REPLY_LOST, ZCONNECTIONLOSS);
SAME(REPLY_UNIMPLEMENTED, ZUNIMPLEMENTED);
SAME(REPLY_BAD_ARGUMENTS, ZBADARGUMENTS);
SAME(REPLY_NO_NODE, ZNONODE);
SAME(REPLY_NO_AUTH, ZNOAUTH);
SAME(REPLY_NO_CHILDREN_FOR_EPHEMERALS, ZNOCHILDRENFOREPHEMERALS);
SAME(REPLY_NODE_EXISTS, ZNODEEXISTS);
SAME(REPLY_NOT_EMPTY, ZNOTEMPTY);
SAME(REPLY_SESSION_EXPIRED, ZSESSIONEXPIRED);
SAME(REPLY_INVALID_ACL, ZINVALIDACL);
SAME(REPLY_AUTH_FAILED, ZAUTHFAILED);
SAME(REPLY_SESSION_MOVED, ZSESSIONMOVED);

bool code_is_answer(int rc) {
  return rc == ZOK ||
         (rc < ZAPIERROR && rc != ZSESSIONEXPIRED && rc != ZAUTHFAILED);
}

bool code_is_unknown(int rc) {
  return rc == ZCONNECTIONLOSS || rc == ZOPERATIONTIMEOUT ||
         rc == ZRUNTIMEINCONSISTENCY || rc == ZMARSHALLINGERROR ||
         rc == ZCLOSING || rc == ZINVALIDSTATE;
}

bool code_is_farewell(int rc) {
  return rc == ZSESSIONEXPIRED || rc == ZSESSIONMOVED;
}

bool code_is_error(int rc) {
  return rc != ZOK && rc != ZNOTHING && rc != ZINVALIDSTATE &&
         rc != ZSESSIONEXPIRED && rc != ZAUTHFAILED;
}

const char *code_words(int rc) { return zerror(rc); }

/* (They may be translated, under a lock of the C library's.) */
const char *code_errno_words(int error) {
  fork_gate_enter();
  const char *words = strerror(error);
  fork_gate_leave();
  return words;
}

/* The library says EHOSTDOWN when a server has closed the connection. */
const char *code_failure_words(int error, int rc, bool greeted) {
  bool closed = error == EHOSTDOWN || error == ECONNRESET || error == EPIPE;
  if (closed && greeted) return "the server closed the connection";
  if (closed)
    return "the server closed the connection; are there maxClientCnxns from "
           "this address already?";
  return error ? code_errno_words(error) : zerror(rc);
}
