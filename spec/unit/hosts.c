/* What they are read as: hosts_spec.lua. */
#include "io/hosts.h"

#include "../sim/memory.h"
#include "test.h"

ABOUT("A session's hosts");

TEST("are refused without a reason where there is no memory") {
  struct hosts hosts;
  char error[300] = "";
  memory_refuse(1);
  CHECK(!hosts_parse(&hosts, "a", error, sizeof error));
  CHECK_TEXT("", error);
  free(hosts.list);
}
