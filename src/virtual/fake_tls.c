#include "fake_tls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"

struct tls_context {
  bool is_read;
};

struct tls_link {
  bool is_begun, is_shaken, is_refused;
  char text[TLS_TEXT]; /* why the link has failed; "" if it has not */
  char *in;            /* bytes from the server that are not decrypted yet */
  size_t in_size;
  size_t decrypted; /* unread bytes of the decrypted packet */
  size_t out_size;  /* unsent bytes at the end of `hello` */
};

static const char hello[] = FAKE_HEAD "c";

static _Thread_local struct tls_link *newest;

/* ---- Files --------------------------------------------------------------- */

static struct tls_context *read_files(const struct tls_files *files,
                                      char error[TLS_TEXT]) {
  struct tls_context *context = fresh(sizeof *context);
  (void)files;
  error[0] = '\0';
  context->is_read = true;
  return context;
}

static void release(struct tls_context *context) { free(context); }

/* ---- A link -------------------------------------------------------------- */

static struct tls_link *open_link(struct tls_context *context,
                                  const char *names) {
  (void)context;
  (void)names;
  return newest = fresh(sizeof *newest);
}

static void close_link(struct tls_link *link) {
  if (newest == link) newest = NULL;
  free(link->in);
  free(link);
}

struct tls_link *fake_tls_take(void) {
  struct tls_link *link = newest;
  newest = NULL;
  return link;
}

bool fake_tls_is_shaken(const struct tls_link *link) { return link->is_shaken; }

static bool feed(struct tls_link *link, const void *data, size_t size) {
  char *in = realloc(link->in, link->in_size + size);
  if (!in) return false;
  memcpy(in + link->in_size, data, size);
  link->in = in;
  link->in_size += size;
  return true;
}

static const char *pending(struct tls_link *link, size_t *size) {
  *size = link->out_size;
  return hello + sizeof hello - 1 - link->out_size;
}

static void sent(struct tls_link *link, size_t size) { link->out_size -= size; }

/* ---- Records ------------------------------------------------------------- */

/* Removes decrypted bytes. */
static void drop(struct tls_link *link, size_t size) {
  link->in_size -= size;
  memmove(link->in, link->in + size, link->in_size);
}

static enum tls_state fail(struct tls_link *link, const char *text,
                           bool is_refused) {
  if (!link->text[0]) link->is_refused = is_refused;
  if (!link->text[0]) snprintf(link->text, TLS_TEXT, "%s", text);
  return TLS_FAILED;
}

/* Returns TLS_DONE if the next record is complete and has the kind `kind`.
 * Returns TLS_WAITS if it is incomplete. If it is an alert or has another kind,
 * makes the link fail. */
static enum tls_state find(struct tls_link *link, char kind) {
  const char *body = link->in + FAKE_HEAD_SIZE + 1;
  if (link->text[0]) return TLS_FAILED;
  if (link->in_size < FAKE_HEAD_SIZE + 1) return TLS_WAITS;
  if (memcmp(link->in, FAKE_HEAD, FAKE_HEAD_SIZE) != 0)
    return fail(link, "a record has a wrong head", false);
  char found = body[-1];
  size_t size = link->in_size - FAKE_HEAD_SIZE - 1;
  if (found == FAKE_ALERT || found == FAKE_REFUSAL)
    return memchr(body, '\0', size) ? fail(link, body, found == FAKE_REFUSAL)
                                    : TLS_WAITS;
  if (found != kind) return fail(link, "a record of another kind", false);
  return size > 0 ? TLS_DONE : TLS_WAITS;
}

static enum tls_state handshake(struct tls_link *link) {
  if (!link->is_begun) link->out_size = sizeof hello - 1;
  link->is_begun = true;
  enum tls_state state = find(link, FAKE_SHAKEN);
  link->is_shaken = state == TLS_DONE;
  if (link->is_shaken) drop(link, FAKE_HEAD_SIZE + 2);
  return state;
}

/* Returns decrypted bytes of at most one record, as OpenSSL does. `*got` is
 * their number. */
static enum tls_state receive(struct tls_link *link, void *data, size_t size,
                              size_t *got) {
  enum tls_state state = link->decrypted > 0 ? TLS_DONE : find(link, FAKE_DATA);
  *got = 0;
  if (state != TLS_DONE) return state;
  if (link->decrypted == 0) {
    drop(link, FAKE_HEAD_SIZE + 2);
    link->decrypted = FAKE_PACKET;
  }
  *got = size < link->decrypted ? size : link->decrypted;
  memset(data, 0, *got);
  link->decrypted -= *got;
  return state;
}

/* Sends nothing, because the requests of the client library bypass the link
 * (client_line.c). */
static enum tls_state transmit(struct tls_link *link, const void *data,
                               size_t size) {
  (void)data;
  (void)size;
  return link->text[0] ? TLS_FAILED : TLS_DONE;
}

static enum tls_state look(struct tls_link *link) {
  return link->decrypted > 0 ? TLS_DONE : find(link, FAKE_DATA);
}

static void closure(struct tls_link *link) { (void)link; }

static const char *failure(const struct tls_link *link, bool *refused) {
  *refused = link->is_refused;
  return link->text;
}

const struct tls_module fake_tls = {
    .magic = TLS_MAGIC,
    .version = TLS_VERSION,
    .read = read_files,
    .release = release,
    .open = open_link,
    .close = close_link,
    .feed = feed,
    .pending = pending,
    .sent = sent,
    .handshake = handshake,
    .receive = receive,
    .send = transmit,
    .look = look,
    .closure = closure,
    .failure = failure,
};
