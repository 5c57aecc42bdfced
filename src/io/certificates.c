#include "certificates.h"

#include <stdio.h>

void certificates_init(struct certificates *c,
                       const struct tls_settings *settings) {
  *c = (struct certificates){.settings = settings};
}

static void use(struct certificates *c, struct tls_context *context) {
  if (c->context) c->settings->module->release(c->context);
  c->context = context;
}

void certificates_free(struct certificates *c) { use(c, NULL); }

struct tls_link *certificates_link(struct certificates *c, const char *names,
                                   char problem[TLS_TEXT]) {
  const struct tls_settings *settings = c->settings;
  const struct tls_files files = {settings->ca, settings->cert, settings->key};
  problem[0] = '\0';
  struct tls_context *context = settings->module->read(&files, problem);
  if (context) use(c, context);
  if (!c->context) return NULL;
  struct tls_link *link =
      settings->module->open(c->context,
                             settings->name ? settings->name : names);
  if (!link) snprintf(problem, TLS_TEXT, "not enough memory");
  return link;
}
