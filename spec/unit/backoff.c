#include "protocol/pipeline.h"
#include "protocol/timer.h"
#include "test.h"

ABOUT("A pause between repetitions");

TEST("is over, and the next one short, after a session timeout") {
  const int64_t timeout = 4000000000;
  struct pipeline w = {.connection = 1, .timeout = timeout, .retry_at = NEVER};
  struct refusals b = {0};
  for (int64_t quiet = timeout - 1; quiet <= timeout; quiet++) {
    for (int i = 0; i < 8; i++) {
      w.now = b.until;
      pipeline_repeat(&w, &b);
    }
    w.now = b.until + quiet;
    for (int i = 0; i < 3; i++) {
      pipeline_repeat(&w, &b);
      CHECK_INT(quiet < timeout, pipeline_must_pause(&w, &b));
    }
  }
}
