#include "library_codes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include "handshake.h"
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
SAME(REPLY_BAD_VERSION, ZBADVERSION);
SAME(REPLY_NO_WATCH, ZNOWATCHER);

/* ZooKeeper's codes that the client library's header lacks, at least in some
 * versions. */
enum {
  UNKNOWN_SESSION = -12,
  REQUEST_TIMEOUT = -122,
};

bool code_is_answer(int rc) {
  return rc == ZOK || (rc < ZAPIERROR && rc != ZSESSIONEXPIRED &&
                       rc != ZAUTHFAILED && rc != REPLY_AUTH_REQUIRED);
}

bool code_is_unknown(int rc) {
  return rc == ZCONNECTIONLOSS || rc == ZOPERATIONTIMEOUT ||
         rc == ZSYSTEMERROR || rc == ZRUNTIMEINCONSISTENCY ||
         rc == ZDATAINCONSISTENCY || rc == ZMARSHALLINGERROR ||
         rc == ZCLOSING || rc == ZINVALIDSTATE || rc == REQUEST_TIMEOUT;
}

bool code_ends_connection(int rc) {
  return rc == ZSESSIONEXPIRED || rc == ZSESSIONMOVED || rc == ZNOTREADONLY ||
         rc == UNKNOWN_SESSION;
}

bool code_is_error(int rc) {
  return rc != ZOK && rc != ZNOTHING && rc != ZINVALIDSTATE &&
         rc != ZSESSIONEXPIRED && rc != ZAUTHFAILED;
}

static bool is_known(int rc) { return strcmp(zerror(rc), zerror(-999)) != 0; }

static const char *words_for_number(int rc) {
  static _Thread_local char text[60];
  snprintf(text, sizeof text, "the code %d, which zklock does not know", rc);
  return text;
}

/* For codes that some versions of the client library do not know, the text is
 * zklock's own. */
const char *reason_text(int rc) {
  switch (rc) {
    case REASON_COUNTER_AT_END:
      return "the sequence counter of the directory is exhausted, and the "
             "directory has data: delete it when it is empty";
    case REASON_NO_MEMORY:
      return "not enough memory";
    case REASON_NO_ROOM:
      return "this session has too many locks and waits at once: use a second "
             "one";
    case REASON_CREDENTIALS:
      return "the credentials are not accepted";
    case REASON_TLS:
      return "TLS fails with each server";
    case REASON_ACL:
      return "its ACL, by option 'acl', would not let this session list, "
             "create and delete";
    case REASON_UNOWNED:
      return "no session owns it, so it stays until it is deleted";
    case REASON_TOO_MANY_CHILDREN:
      return "there are more than 50000 children in it, or in a directory of "
             "it";
    case ZUNIMPLEMENTED:
      return "the server does not know this request: ZooKeeper 3.5 does";
    case UNKNOWN_SESSION:
      return "the server does not know this session any more";
    case ZNOAUTH:
      return "an ACL forbids it";
    case ZNOTREADONLY:
      return "the server has no quorum, and may only be read";
    case ZEPHEMERALONLOCALSESSION:
      return "the session is local to its server, which makes no ephemeral "
             "nodes for it: set localSessionsUpgradingEnabled=true at the "
             "servers";
    case REQUEST_TIMEOUT:
      return "the request was not answered in time";
    case REPLY_AUTH_REQUIRED:
      return "the servers require authentication by one of their "
             "enforce.auth.schemes (sasl, if it is "
             "sessionRequireClientSASLAuth that they have), and this session "
             "has authenticated by none of these";
    case REPLY_QUOTA_EXCEEDED:
      return "it would exceed the quota that was set on the path, or above it";
    case REPLY_THROTTLED:
      return "the server is overloaded, and has throttled the request";
    default:
      return is_known(rc) ? zerror(rc) : words_for_number(rc);
  }
}

/* EHOSTDOWN is the library's errno for a server that has closed the connection.
 * EPROTO comes from stream.c, for a server that does not speak the expected
 * protocol. */
const char *code_failure_text(int error, int rc, bool greeted, bool secure) {
  if (error == EPROTO && *handshake_error()) return handshake_error();
  bool closed = error == EHOSTDOWN || error == ECONNRESET || error == EPIPE;
  if (closed && greeted) return "the server closed the connection";
  if (closed && secure)
    return "the server closed the connection: it is starting, or has "
           "maxClientCnxns connections from this address, or refuses the "
           "certificate of tls.cert";
  if (closed)
    return "the server closed the connection: it is starting, or has "
           "maxClientCnxns connections from this address, or speaks TLS on "
           "this port (then set the option 'tls')";
  return error ? strerror(error) : zerror(rc);
}

void reason_write(char *text, size_t size, const char *what, const char *path,
                  size_t length, const char *reason) {
  snprintf(text, size, "%s (%.*s): %s", what, length ? (int)length : 1,
           length ? path : "/", reason);
}
