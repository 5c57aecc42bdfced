#include "reason.h"

#include "library_codes.h"
#include "protocol/op.h"

const char *reason_words(int rc) {
  switch (rc) {
    case REASON_COUNTER_AT_END:
      return "the sequence counter of the directory is at its end, and it "
             "carries data: delete it when it is empty";
    case REASON_NO_MEMORY:
      return "not enough memory";
    case REASON_NO_ROOM:
      return "this session has too many locks and waits at once; use another";
    case REASON_CREDENTIALS:
      return "our credentials are not accepted";
    case REASON_TOO_LARGE:
      return "too large for the servers, which close the connection at it: "
             "give it less data, or raise their jute.maxbuffer";
    default:
      return code_words(rc);
  }
}
