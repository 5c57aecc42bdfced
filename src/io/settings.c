#include "settings.h"

#include <stdlib.h>

#include "wipe.h"

void settings_forget_credentials(struct settings *settings) {
  for (int i = 0; i < settings->credential_count; i++) {
    struct credential *c = &settings->credentials[i];
    wipe(c->secret, c->size);
    free(c->scheme);
    free(c->secret);
  }
  free(settings->credentials);
  settings->credentials = NULL;
  settings->credential_count = 0;
}

void settings_free(struct settings *settings) {
  if (!settings) return;
  free(settings->hosts.list);
  settings_forget_credentials(settings);
  for (int i = 0; i < settings->acl_count; i++) {
    free(settings->acl[i].scheme);
    free(settings->acl[i].id);
  }
  free(settings->acl);
  free(settings->tls.ca);
  free(settings->tls.cert);
  free(settings->tls.key);
  free(settings->tls.name);
  free(settings);
}
