#include "reason.h"

#include <stdio.h>

#include "library_codes.h"
#include "protocol/op.h"

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
    default:
      return code_text(rc);
  }
}

void reason_write(char *text, size_t size, const char *what, const char *path,
                  size_t length, const char *reason) {
  snprintf(text, size, "%s (%.*s): %s", what, length ? (int)length : 1,
           length ? path : "/", reason);
}
