#include "io/settings.h"

#include "../sim/memory.h"
#include "test.h"

ABOUT("Settings");

static const char SECRET[] = "ann:secret";

static struct settings *with_credentials(int count) {
  struct settings *settings = calloc(1, sizeof *settings);
  settings->credentials = calloc((size_t)count, sizeof(struct credential));
  settings->credential_count = count;
  for (int i = 0; i < count; i++) {
    struct credential *c = &settings->credentials[i];
    c->scheme = strdup("digest");
    c->secret = strdup(SECRET);
    c->size = sizeof SECRET - 1;
  }
  return settings;
}

TEST("wipe each credential before its memory is given back") {
  struct settings *settings = with_credentials(3);
  for (int i = 0; i < 3; i++) {
    memory_watch(settings->credentials[i].secret, sizeof SECRET);
    CHECK(!memory_was_wiped());
  }
  for (int i = 2; i >= 0; i--) {
    settings = i < 2 ? with_credentials(3) : settings;
    memory_watch(settings->credentials[i].secret, sizeof SECRET);
    settings_free(settings);
    CHECK(memory_was_wiped());
  }
}

TEST("forget credentials when the session ends, before all else is freed") {
  struct settings *settings = with_credentials(2);
  memory_watch(settings->credentials[1].secret, sizeof SECRET);
  settings_forget_credentials(settings);
  CHECK(memory_was_wiped());
  CHECK_INT(0, settings->credential_count);
  settings_forget_credentials(settings);
  settings_free(settings);
}

TEST("that were only half read are wiped, too") {
  struct settings *settings = with_credentials(2);
  struct credential *second = &settings->credentials[1];
  free(second->secret); /* there was no memory for it */
  second->secret = NULL;
  memory_watch(settings->credentials[0].secret, sizeof SECRET);
  settings_free(settings);
  CHECK(memory_was_wiped());
  settings_free(NULL);
}
