#include "protocol/quota.h"

#include "test.h"

ABOUT("A quota");

enum { DIRECTORY = 100, MOST = 1000000 };

static struct quota quota;

static enum quota_answer ask(bool urgent, bool leaving) {
  return quota_ask(&quota, quota_of_node(DIRECTORY), urgent, leaving);
}

TEST("asks the urgent to come later if something will be given back") {
  quota_take(&quota, MOST);
  CHECK_INT(QUOTA_NEVER, ask(true, false));
  CHECK_INT(QUOTA_LATER, ask(true, true));
}

TEST("says once that something was given back") {
  CHECK(!quota_was_freed(&quota));
  quota_take(&quota, 10);
  CHECK(!quota_was_freed(&quota));
  quota_give(&quota, 5);
  CHECK(quota_was_freed(&quota));
  CHECK(!quota_was_freed(&quota));
  quota_pass_on(&quota);
  CHECK(quota_was_freed(&quota));
  CHECK(!quota_was_freed(&quota));
}
