#include "acl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sha1.h"

static struct acl_list *with_entry(struct acl_list *list,
                                   const struct zk_acl *entry) {
  list->entries =
      regrown(list->entries, (size_t)(list->count + 1) * sizeof *list->entries);
  list->entries[list->count++] =
      (struct zk_acl){entry->perms, fresh_text(entry->scheme),
                      fresh_text(entry->id)};
  return list;
}

static struct acl_list *empty(void) {
  struct acl_list *list = fresh(sizeof *list);
  list->keepers = 1;
  return list;
}

struct acl_list *acl_list_new(const struct zk_acls *acls) {
  struct acl_list *list = empty();
  for (int i = 0; i < acls->count; i++) with_entry(list, &acls->list[i]);
  return list;
}

struct acl_list *acl_list_keep(struct acl_list *list) {
  list->keepers++;
  return list;
}

void acl_list_drop(struct acl_list *list) {
  if (!list || --list->keepers > 0) return;
  for (int i = 0; i < list->count; i++) {
    free((char *)list->entries[i].scheme);
    free((char *)list->entries[i].id);
  }
  free(list->entries);
  free(list);
}

struct acl_list *acl_list_open(void) {
  const struct zk_acl anyone = {ZK_ALL, "world", "anyone"};
  return acl_list_new(&(struct zk_acls){1, &anyone});
}

/* ---- Identities ---------------------------------------------------------- */

struct acl_list *identities_of(const char *address) {
  const struct zk_acl ip = {0, "ip", address};
  return acl_list_new(&(struct zk_acls){1, &ip});
}

static char *base64(char *out, const unsigned char *bytes, int size) {
  static const char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (int i = 0; i < size; i += 3) {
    uint32_t word = (uint32_t)bytes[i] << 16;
    if (i + 1 < size) word |= (uint32_t)bytes[i + 1] << 8;
    if (i + 2 < size) word |= bytes[i + 2];
    *out++ = digits[word >> 18];
    *out++ = digits[word >> 12 & 63];
    *out++ = i + 1 < size ? digits[word >> 6 & 63] : '=';
    *out++ = i + 2 < size ? digits[word & 63] : '=';
  }
  *out = '\0';
  return out;
}

/* Returns the id for a credential "user:password", which is
 * user:BASE64(SHA1("user:password")). */
static char *digest_id(const struct zk_data *credential) {
  unsigned char digest[SHA1_BYTES];
  const char *text = credential->bytes;
  size_t size = credential->length > 0 ? (size_t)credential->length : 0;
  const char *colon = size ? memchr(text, ':', size) : NULL;
  size_t user = colon ? (size_t)(colon - text) : size;
  char *id = fresh(user + 40);
  if (user) memcpy(id, text, user);
  id[user] = ':';
  sha1(digest, text, size);
  base64(id + user + 1, digest, SHA1_BYTES);
  return id;
}

static bool same(const struct zk_acl *a, const struct zk_acl *b) {
  return a->perms == b->perms && strcmp(a->scheme, b->scheme) == 0 &&
         strcmp(a->id, b->id) == 0;
}

static bool has(const struct acl_list *list, const struct zk_acl *entry) {
  for (int i = 0; i < list->count; i++)
    if (same(&list->entries[i], entry)) return true;
  return false;
}

bool identities_add(struct acl_list **identities, const char *scheme,
                    const struct zk_data *credential, const char *address) {
  bool digest = strcmp(scheme, "digest") == 0;
  if (!digest && strcmp(scheme, "ip") != 0) return false;
  char *id = digest ? digest_id(credential) : fresh_text(address);
  struct zk_acl entry = {0, scheme, id};
  if (!has(*identities, &entry)) {
    struct zk_acls old = {(*identities)->count, (*identities)->entries};
    struct acl_list *list = with_entry(acl_list_new(&old), &entry);
    acl_list_drop(*identities);
    *identities = list;
  }
  free(id);
  return true;
}

/* ---- Schemes ------------------------------------------------------------- */

/* Parses an IPv4 address and, after an optional slash, the number of prefix
 * bits. Returns false if the text is invalid. */
static bool read_address(const char *text, uint32_t *address, int *bits) {
  unsigned parts[4];
  int end = 0;
  if (sscanf(text, "%3u.%3u.%3u.%3u%n", &parts[0], &parts[1], &parts[2],
             &parts[3], &end) != 4)
    return false;
  *address = 0;
  for (int i = 0; i < 4; i++) {
    if (parts[i] > 255) return false;
    *address = *address << 8 | parts[i];
  }
  *bits = 32;
  if (text[end] == '\0') return true;
  if (text[end] != '/') return false;
  char *rest;
  long wanted = strtol(text + end + 1, &rest, 10);
  *bits = (int)wanted;
  return *rest == '\0' && rest != text + end + 1 && wanted >= 0 && wanted <= 32;
}

static bool ip_matches(const char *id, const char *expression) {
  uint32_t ours, theirs;
  int bits, all;
  if (!read_address(expression, &theirs, &bits)) return false;
  if (!read_address(id, &ours, &all)) return false;
  return bits == 0 || (ours ^ theirs) >> (32 - bits) == 0;
}

/* Returns true if an id of the scheme digest has exactly two parts, separated
 * by a colon. Empty parts at the end do not count, as in Java's split(). */
static bool digest_is_valid(const char *id) {
  size_t size = strlen(id);
  while (size > 0 && id[size - 1] == ':') size--;
  const char *colon = size ? memchr(id, ':', size) : NULL;
  return colon && !memchr(colon + 1, ':', size - (size_t)(colon + 1 - id));
}

static bool is_valid(const struct zk_acl *entry) {
  uint32_t address;
  int bits;
  if (strcmp(entry->scheme, "digest") == 0) return digest_is_valid(entry->id);
  if (strcmp(entry->scheme, "ip") == 0)
    return read_address(entry->id, &address, &bits);
  return false;
}

static bool is_anyone(const struct zk_acl *entry) {
  return strcmp(entry->scheme, "world") == 0 &&
         strcmp(entry->id, "anyone") == 0;
}

static bool is_for(const struct zk_acl *entry,
                   const struct acl_list *identities) {
  if (is_anyone(entry)) return true;
  for (int i = 0; i < identities->count; i++) {
    const struct zk_acl *identity = &identities->entries[i];
    if (strcmp(identity->scheme, entry->scheme) != 0) continue;
    if (strcmp(entry->scheme, "ip") == 0 ? ip_matches(identity->id, entry->id)
                                         : strcmp(identity->id, entry->id) == 0)
      return true;
  }
  return false;
}

bool acl_grants(const struct acl_list *acls, int32_t perms,
                const struct acl_list *identities) {
  for (int i = 0; i < acls->count; i++)
    if ((acls->entries[i].perms & perms) &&
        is_for(&acls->entries[i], identities))
      return true;
  return acls->count == 0;
}

/* Adds an entry of a request's ACL to `list`. Replaces an entry "auth" by the
 * session's authenticated identities: those of the scheme digest. Returns false
 * if the entry is invalid, or if it is "auth" and the session has no such
 * identity. */
static bool add_checked(struct acl_list *list, const struct zk_acl *entry,
                        const struct acl_list *identities) {
  if (strcmp(entry->scheme, "auth") != 0) {
    if (!is_anyone(entry) && !is_valid(entry)) return false;
    with_entry(list, entry);
    return true;
  }
  bool any = false;
  for (int i = 0; i < identities->count; i++) {
    if (strcmp(identities->entries[i].scheme, "digest") != 0) continue;
    struct zk_acl own = identities->entries[i];
    own.perms = entry->perms;
    with_entry(list, &own);
    any = true;
  }
  return any;
}

struct acl_list *acl_list_checked(const struct zk_acls *acls,
                                  const struct acl_list *identities) {
  struct acl_list *list = empty();
  bool valid = acls->count > 0;
  for (int i = 0; valid && i < acls->count; i++) {
    bool again = false;
    for (int j = 0; j < i; j++) again |= same(&acls->list[i], &acls->list[j]);
    if (!again) valid = add_checked(list, &acls->list[i], identities);
  }
  if (valid) return list;
  acl_list_drop(list);
  return NULL;
}

/* ---- What clients receive ------------------------------------------------ */

static const char *hidden(const char *id, struct arena *arena) {
  const char *colon = strchr(id, ':');
  if (!colon) return arena_text(arena, id);
  size_t user = (size_t)(colon - id);
  char *text = arena_alloc(arena, user + 3);
  memcpy(text, id, user);
  memcpy(text + user, ":x", 3);
  return text;
}

struct zk_acls acl_list_shown(const struct acl_list *acls, bool hides,
                              struct arena *arena) {
  struct zk_acl *list =
      arena_alloc(arena, (size_t)acls->count * sizeof *list + 1);
  for (int i = 0; i < acls->count; i++) {
    const struct zk_acl *entry = &acls->entries[i];
    bool hide = hides && strcmp(entry->scheme, "digest") == 0;
    list[i] = (struct zk_acl){entry->perms, arena_text(arena, entry->scheme),
                              hide ? hidden(entry->id, arena)
                                   : arena_text(arena, entry->id)};
  }
  return (struct zk_acls){acls->count, list};
}

struct zk_acls identities_shown(const struct acl_list *identities,
                                struct arena *arena) {
  struct zk_acls shown = acl_list_shown(identities, false, arena);
  for (int i = 0; i < shown.count; i++) {
    char *colon = strchr((char *)shown.list[i].id, ':');
    if (colon && strcmp(shown.list[i].scheme, "digest") == 0) *colon = '\0';
  }
  return shown;
}
