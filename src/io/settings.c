#include "settings.h"

#include <stdlib.h>

void settings_free(struct settings *settings) {
  if (!settings) return;
  free(settings->hosts.list);
  for (int i = 0; i < settings->credential_count; i++) {
    free(settings->credentials[i].scheme);
    free(settings->credentials[i].secret);
  }
  free(settings->credentials);
  for (int i = 0; i < settings->acl_count; i++) {
    free(settings->acl[i].scheme);
    free(settings->acl[i].id);
  }
  free(settings->acl);
  free(settings);
}
