#include "io/host_lookup.h"

#include "io/clock.h"
#include "test.h"

ABOUT("A host lookup");

#define SECOND INT64_C(1000000000)

TEST("comes soon after a loss, however many there were before") {
  struct host name = {.name = "zk.invalid"};
  const struct hosts hosts = {.list = &name, .count = 1};
  struct host_lookup lookup;
  host_lookup_init(&lookup, &hosts, NULL);
  int64_t first = lookup.pause;
  CHECK(first <= SECOND);
  lookup.pause = 5 * SECOND; /* after many answers */
  host_lookup_ask_after_loss(&lookup);
  CHECK_INT(first, lookup.pause);
  CHECK(lookup.due <= clock_now() + first);
}
