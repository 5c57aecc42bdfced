#include "nonce.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIDDLE "-nonce-"

enum { NUMBERS = 2 * 16 + 1 }; /* two hexadecimal numbers and a hyphen */

void nonces_init(struct nonces *nonces, struct pipeline *pipeline) {
  *nonces = (struct nonces){.pipeline = pipeline};
}

struct nonce *nonce_new(struct nonces *nonces, const char *path) {
  size_t size = strlen(path) + sizeof MIDDLE + NUMBERS;
  struct nonce *n = calloc(1, sizeof *n + size);
  if (!n) return NULL;
  n->all = nonces;
  snprintf(n->path, size, "%s" MIDDLE "%" PRIx64 "-%" PRIx64, path,
           (uint64_t)nonces->pipeline->session, ++nonces->count);
  return n;
}

static void forget(struct nonce *nonce) {
  struct nonce **link = &nonce->all->first;
  while (*link != nonce) link = &(*link)->next;
  *link = nonce->next;
  free(nonce);
}

/* Frees the nonce. But if the reply was lost, or a server refused the delete
 * temporarily, keeps the nonce. nonces_drive then sends the delete again. */
static void on_deleted(struct op *op, const struct reply *reply) {
  struct nonce *nonce = op->owner;
  int rc = reply->rc;
  if (reply_is_unknown(rc) || reply_is_transient(rc)) return;
  if (rc != REPLY_OK && rc != REPLY_NO_NODE)
    pipeline_warn(nonce->all->pipeline, "cannot delete", nonce->path, rc);
  forget(nonce);
}

void nonce_delete(struct nonce *nonce) {
  struct nonces *nonces = nonce->all;
  nonce->op = (struct op){.kind = OP_REMOVE,
                          .handler = on_deleted,
                          .owner = nonce,
                          .path = nonce->path,
                          .resend = true};
  nonce->next = nonces->first;
  nonces->first = nonce;
  pipeline_submit(nonces->pipeline, &nonce->op);
}

void nonces_drive(struct nonces *nonces) {
  for (struct nonce *n = nonces->first; n; n = n->next)
    if (!n->op.in_flight) pipeline_submit(nonces->pipeline, &n->op);
}

void nonces_end(struct nonces *nonces) {
  for (struct nonce *n = nonces->first, *next; n; n = next) {
    next = n->next;
    free(n);
  }
  nonces->first = NULL;
}
