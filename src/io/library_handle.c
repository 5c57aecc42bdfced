#include "library_handle.h"

#include <stdlib.h>

static void free_slates(struct library *l, bool all) {
  struct slate **link = &l->slates, *slate;
  while ((slate = *link)) {
    if (all || slate->is_done) {
      *link = slate->next;
      free(slate);
    } else {
      link = &slate->next;
    }
  }
}

void handle_free_done(struct library *l) { free_slates(l, false); }

void handle_keep(struct library *l, struct slate *slate) {
  slate->next = l->slates;
  l->slates = slate;
}

void handle_close(struct library *l) {
  if (!l->handle) return;
  inbox_current = &l->inbox;
  zookeeper_close(l->handle);
  l->handle = NULL;
  free_slates(l, true);
  l->connected = l->parting = l->left = l->odd = l->stranger = false;
  l->outstanding = l->handed = 0;
  answers_begin(&l->answers, 0);
  /* No callback can run any more, and nobody waits for what it reported. */
  inbox_discard(&l->inbox);
}

void handle_tell_error(struct library *l, const char *server,
                       const char *text) {
  l->listener.error(l->listener.self, server && *server ? server : NULL, text);
}

void handle_tell_lost(struct library *l) {
  if (!l->connected) return;
  l->connected = false;
  l->parting = true;
  l->listener.lost(l->listener.self);
}

enum library_end handle_end(const struct library *l, enum library_end end) {
  return end == LIBRARY_LOST && l->stranger ? LIBRARY_UNKNOWN : end;
}

void handle_tell_accepted(struct library *l) {
  if (l->connected && l->handed == l->settings->credential_count)
    l->listener.accepted(l->listener.self);
}
