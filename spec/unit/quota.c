#include "protocol/quota.h"

#include "test.h"

ABOUT("A quota");

enum { DIRECTORY = 100, FOR_ALL = 800000, MOST = 1000000 };

static struct quota quota;

static enum quota_answer ask(bool urgent, bool leaving) {
  return quota_ask(&quota, DIRECTORY, urgent, leaving);
}

/* What is asked for one more: its node's part, and two of others. */
static size_t wanted(void) {
  return quota_of_node(DIRECTORY) + 2 * quota_of_neighbour(DIRECTORY);
}

TEST("lets anybody in up to the first limit, and not beyond it") {
  quota_take(&quota, FOR_ALL - wanted());
  CHECK_INT(QUOTA_YES, ask(false, false));
  quota_take(&quota, 1);
  CHECK_INT(QUOTA_LATER, ask(false, false));
}

TEST("asks the urgent to come later if something will be given back") {
  quota_take(&quota, MOST);
  CHECK_INT(QUOTA_NEVER, ask(true, false));
  CHECK_INT(QUOTA_LATER, ask(true, true));
  quota_promise(&quota, 1);
  CHECK_INT(QUOTA_LATER, ask(true, false));
}

TEST("says once that something was given back") {
  CHECK(!quota_was_freed(&quota));
  quota_take(&quota, 10);
  quota_promise(&quota, 10);
  CHECK(!quota_was_freed(&quota));
  quota_give(&quota, 5);
  CHECK(quota_was_freed(&quota));
  CHECK(!quota_was_freed(&quota));
  quota_keep(&quota, 5);
  CHECK(quota_was_freed(&quota));
  quota_pass_on(&quota);
  CHECK(quota_was_freed(&quota));
  CHECK(!quota_was_freed(&quota));
}
