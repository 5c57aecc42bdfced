#include "name.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Near the end of the counter its order is not the order of arrival. */
#define SEQUENCE_DANGER (INT32_MAX - 65535)

static const struct {
  const char *text;
  enum role role;
} markers[] = {
    {"-lock-", ROLE_LOCK},         {"-__READ__", ROLE_READ},
    {"-__WRIT__", ROLE_WRITE},     {"-lease-", ROLE_PERMIT},
    {"__lock__", ROLE_KAZOO_LOCK}, {"__rlock__", ROLE_KAZOO_READ},
};

enum { MARKERS = sizeof markers / sizeof *markers };

size_t data_own_size(const char *data, size_t size) {
  size_t mark = sizeof REVOKE_MARK - 1;
  if (size == sizeof REVOKE_CURATOR - 1 &&
      memcmp(data, REVOKE_CURATOR, size) == 0)
    return 0;
  if (size >= mark && memcmp(data + size - mark, REVOKE_MARK, mark) == 0)
    return size - mark;
  return size;
}

bool data_is_revoked(const char *data, size_t size) {
  return data_own_size(data, size) < size;
}

static void put_hex(char *out, uint64_t value, int digits) {
  for (int i = digits; i-- > 0; value >>= 4)
    out[i] = "0123456789abcdef"[value & 15];
}

void name_base_init(struct name_base *base, const unsigned char random[16]) {
  static const int parts[] = {8, 4, 4, 4};
  unsigned char bytes[10];
  memcpy(bytes, random, 8);
  bytes[6] = (unsigned char)(0x40u | (random[6] & 15u));
  bytes[8] = (unsigned char)(0x80u | (random[8] & 3u) << 4 | (random[9] & 15u));
  bytes[9] = random[10];
  for (size_t i = 0; i < 10; i++) put_hex(base->plain + 2 * i, bytes[i], 2);
  base->plain[20] = '\0';
  strcpy(base->text, "_c_");
  char *to = base->text + 3;
  const char *from = base->plain;
  for (int i = 0; i < 4; i++) {
    memcpy(to, from, (size_t)parts[i]);
    from += parts[i];
    to += parts[i];
    *to++ = '-';
  }
  *to = '\0';
}

void name_format(char *out, size_t size, const struct name_base *base,
                 uint64_t id, enum role role) {
  const char *marker = "";
  bool kazoo = role == ROLE_KAZOO_LOCK || role == ROLE_KAZOO_READ;
  for (int i = 0; i < MARKERS; i++)
    if (markers[i].role == role) marker = markers[i].text;
  const char *text = kazoo ? base->plain : base->text;
  size_t length = strlen(text), digits = 12;
  assert(size > length + digits + strlen(marker));
  memcpy(out, text, length); /* NOLINT: what ends it comes last */
  put_hex(out + length, id, (int)digits);
  strcpy(out + length + digits, marker);
}

bool name_id(const char *name, const struct name_base *base, uint64_t *id) {
  size_t length = strlen(base->text);
  if (strncmp(name, base->text, length) != 0) {
    length = strlen(base->plain);
    if (strncmp(name, base->plain, length) != 0) return false;
  }
  uint64_t value = 0;
  for (int i = 0; i < 12; i++) {
    char c = name[length + (size_t)i];
    if (c >= '0' && c <= '9')
      value = value * 16 + (uint64_t)(c - '0');
    else if (c >= 'a' && c <= 'f')
      value = value * 16 + (uint64_t)(c - 'a' + 10);
    else
      return false;
  }
  *id = value;
  return true;
}

/* -1: not all of them are digits. */
static int64_t number_of(const char *text, size_t digits) {
  int64_t value = 0;
  for (size_t i = 0; i < digits; i++) {
    if (text[i] < '0' || text[i] > '9') return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

/* The number that ends `name` as the server's `%010d` prints it: ten
 * characters, or eleven below -999999999.  Returns their count, 0: none. */
static size_t parse_sequence(const char *name, size_t length, bool eleven,
                             int32_t *sequence) {
  size_t width = eleven ? 11 : 10;
  if (length < width) return 0;
  const char *text = name + length - width;
  bool negative = text[0] == '-';
  if (eleven && !negative) return 0;
  int64_t value = number_of(text + negative, width - negative);
  if (value < 0) return 0;
  if (negative) value = -value;
  if (value > INT32_MAX || value < INT32_MIN) return 0;
  if (eleven && value >= -999999999) return 0;
  if (negative && value == 0) return 0; /* no server prints that */
  *sequence = (int32_t)value;
  return width;
}

enum role name_parse(const char *name, int32_t *sequence) {
  size_t length = strlen(name);
  for (int eleven = 0; eleven < 2; eleven++) {
    size_t width = parse_sequence(name, length, eleven, sequence);
    if (!width) continue;
    for (int i = 0; i < MARKERS; i++) {
      size_t m = strlen(markers[i].text);
      if (length >= width + m &&
          memcmp(name + length - width - m, markers[i].text, m) == 0)
        return markers[i].role;
    }
  }
  return ROLE_FOREIGN;
}

static int by_sequence(const void *a, const void *b) {
  const struct entry *x = a, *y = b;
  if (x->sequence != y->sequence) return x->sequence < y->sequence ? -1 : 1;
  return strcmp(x->name, y->name);
}

struct listing *listing_new(const char *const *names, int count) {
  size_t text = 0;
  for (int i = 0; i < count; i++) text += strlen(names[i]) + 1;
  struct listing *listing =
      malloc(sizeof *listing + (size_t)count * sizeof(struct entry) + text);
  if (!listing) return NULL;
  char *copy = (char *)&listing->entries[count];
  int n = 0;
  listing->wrapped = false;
  for (int i = 0; i < count; i++) {
    struct entry *e = &listing->entries[n];
    e->role = name_parse(names[i], &e->sequence);
    e->unowned = false;
    if (e->role == ROLE_FOREIGN) continue;
    if (e->sequence < 0) listing->wrapped = true;
    size_t size = strlen(names[i]) + 1;
    e->name = memcpy(copy, names[i], size);
    copy += size;
    n++;
  }
  listing->count = n;
  qsort(listing->entries, (size_t)n, sizeof(struct entry), by_sequence);
  return listing;
}

static bool is_twin(const struct entry *own, const struct entry *e) {
  return e->sequence == own->sequence && e->role == own->role && !e->unowned;
}

/* (What no session owns, no client has made: its number is whatever somebody
 * chose.) */
const struct entry *listing_disorder(const struct listing *listing,
                                     const struct entry *own) {
  const struct entry *first = listing->entries, *end = first + listing->count;
  if (own->sequence >= SEQUENCE_DANGER || own->sequence < 0) return own;
  for (const struct entry *e = first; listing->wrapped && e->sequence < 0; e++)
    if (!e->unowned) return e;
  for (const struct entry *e = own;
       e-- > first && e->sequence == own->sequence;)
    if (is_twin(own, e)) return e;
  for (const struct entry *e = own; ++e < end && e->sequence == own->sequence;)
    if (is_twin(own, e)) return e;
  return NULL;
}

void listing_free(struct listing *listing) { free(listing); }

const struct entry *listing_find(const struct listing *listing,
                                 const char *name) {
  int32_t sequence;
  if (name_parse(name, &sequence) == ROLE_FOREIGN) return NULL;
  int low = 0, high = listing->count;
  while (low < high) {
    int middle = low + (high - low) / 2;
    const struct entry *e = &listing->entries[middle];
    int order = e->sequence != sequence ? (e->sequence < sequence ? -1 : 1)
                                        : strcmp(e->name, name);
    if (order == 0) return e;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

void listing_disown(struct listing *listing, const char *name) {
  const struct entry *e = listing_find(listing, name);
  if (e) listing->entries[e - listing->entries].unowned = true;
}

const struct entry *listing_find_id(const struct listing *listing,
                                    const struct name_base *base, uint64_t id) {
  for (int i = 0; i < listing->count; i++) {
    const char *name = listing->entries[i].name;
    uint64_t found;
    if (name_id(name, base, &found) && found == id &&
        strlen(name) < NAME_MAX_OWN)
      return &listing->entries[i];
  }
  return NULL;
}
