/* Fuzzes what reads the children of a lock's directory: names, one a line.  The
 * first 16 bytes make the base of a session, and one of the names is its. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/name.h"
#include "protocol/rule.h"

enum { NAMES = 64, SHORT = 256 };

static void check_name(const char *name) {
  int32_t sequence = 0;
  if (name_parse(name, &sequence) == ROLE_FOREIGN) return;
  /* Nothing but what the server prints is a number. */
  char printed[16];
  int width = snprintf(printed, sizeof printed, "%010d", (int)sequence);
  assert(strlen(name) >= (size_t)width);
  assert(strcmp(name + strlen(name) - width, printed) == 0);
}

static void check_order(const struct listing *listing) {
  for (int i = 1; i < listing->count; i++)
    assert(listing->entries[i - 1].sequence <= listing->entries[i].sequence);
  for (int i = 0; i < listing->count; i++) {
    const struct entry *e = &listing->entries[i];
    const struct entry *found = listing_find(listing, e->name);
    assert(found && strcmp(found->name, e->name) == 0);
    listing_is_disordered(listing, e);
  }
}

static void check_rules(const struct listing *listing) {
  for (int i = 0; i < listing->count; i++) {
    const struct entry *own = &listing->entries[i];
    for (int kind = KIND_MUTEX; kind <= KIND_PERMIT; kind++) {
      struct ahead ahead;
      rule_apply((enum kind)kind, 1, listing, own, &ahead);
      assert(ahead.count >= 0 && ahead.count <= listing->count);
      if (kind == KIND_PERMIT) continue;
      assert((ahead.count > 0) == (ahead.nearest != NULL));
      assert((ahead.count > 1) == (ahead.before != NULL));
      assert(!ahead.nearest || ahead.nearest < own);
      assert(!ahead.before || ahead.before < ahead.nearest);
    }
  }
}

static void check_own(const struct listing *listing,
                      const struct name_base *base) {
  for (int i = 0; i < listing->count; i++) {
    uint64_t id;
    const char *name = listing->entries[i].name;
    if (!name_id(name, base, &id)) continue;
    assert(strlen(name) < NAME_MAX_OWN);
    assert(listing_find_id(listing, base, id, listing->entries[i].role, ""));
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct name_base base;
  unsigned char random[16] = {0};
  memcpy(random, data, size < sizeof random ? size : sizeof random);
  name_base_init(&base, random);

  char *text = malloc(size + 1);
  const char *names[NAMES];
  int count = 0;
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  for (char *name = strtok(text, "\n"); name && count < NAMES;
       name = strtok(NULL, "\n"))
    names[count++] = name;
  char own[NAME_MAX_OWN + 16];
  if (count > 1) { /* the first one ends like this session's own */
    name_format(own, NAME_MAX_OWN, &base, size, (enum role)(1 + size % 6));
    snprintf(own + strlen(own), 16, "%.11s", names[0]);
    names[0] = own;
  }

  for (int i = 0; i < count; i++) check_name(names[i]);
  struct listing *listing = listing_new(names, count);
  if (listing) {
    check_order(listing);
    check_rules(listing);
    check_own(listing, &base);
  }
  listing_free(listing);
  data_own_size((const char *)data, size);
  free(text);
  return 0;
}
