#include "name.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *text;
  enum role role;
} markers[] = {
    {"-lock-", ROLE_LOCK},         {"-__READ__", ROLE_READ},
    {"-__WRIT__", ROLE_WRITE},     {"-lease-", ROLE_PERMIT},
    {"__lock__", ROLE_KAZOO_LOCK}, {"__rlock__", ROLE_KAZOO_READ},
    {"-latch-", ROLE_LATCH},       {"-member-", ROLE_MEMBER},
    {"-hold-", ROLE_HOLD},
};

enum { MARKERS = sizeof markers / sizeof *markers };

/* The characters of bases and ids. No marker begins or ends with one of them,
 * and other clients give them no special meaning. */
static const char letters[] =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

enum { LETTERS = sizeof letters - 1 };

size_t data_own_size(const char *data, size_t size) {
  size_t mark = sizeof REVOKE_MARK - 1;
  if (size == sizeof REVOKE_CURATOR - 1 &&
      memcmp(data, REVOKE_CURATOR, size) == 0)
    return 0;
  if (size >= mark && memcmp(data + size - mark, REVOKE_MARK, mark) == 0)
    return size - mark;
  return size;
}

/* Writes `value` as a number of base 62, with at least `least` letters. Returns
 * the number of letters. */
static size_t put_letters(char *out, uint64_t value, size_t least) {
  size_t count = 1;
  for (uint64_t rest = value; rest >= LETTERS; rest /= LETTERS) count++;
  if (count < least) count = least;
  for (size_t i = count; i-- > 0; value /= LETTERS)
    out[i] = letters[value % LETTERS];
  return count;
}

/* Reads a number that put_letters has written. Returns false for other
 * characters, for leading zeros, and for a number that is too large. */
static bool read_letters(const char *text, size_t count, uint64_t *value) {
  *value = 0;
  if (count == 0 || count > NAME_ID_MAX || (count > 1 && text[0] == '0'))
    return false;
  for (size_t i = 0; i < count; i++) {
    const char *letter = memchr(letters, text[i], LETTERS);
    if (!letter) return false;
    uint64_t digit = (uint64_t)(letter - letters);
    if (*value > (UINT64_MAX - digit) / LETTERS) return false;
    *value = *value * LETTERS + digit;
  }
  return true;
}

void name_base_init(struct name_base *base, const unsigned char random[16]) {
  uint64_t bases = 1, drawn = 0;
  for (int i = 0; i < NAME_BASE; i++) bases *= LETTERS;
  for (int i = 11; i < 16; i++) drawn = drawn << 8 | random[i];
  put_letters(base->text, drawn % bases, NAME_BASE);
  base->text[NAME_BASE] = '\0';
}

void name_format(char *out, size_t size, const struct name_base *base,
                 uint64_t id, enum role role) {
  const char *marker = "";
  for (int i = 0; i < MARKERS; i++)
    if (markers[i].role == role) marker = markers[i].text;
  assert(size > NAME_BASE + NAME_ID_MAX + strlen(marker));
  memcpy(out, base->text, NAME_BASE); /* NOLINT: the strcpy terminates it */
  strcpy(out + NAME_BASE + put_letters(out + NAME_BASE, id, 1), marker);
}

/* Returns the number in the first `digits` bytes of `text`; -1: not all
 * digits. */
static int64_t number_of(const char *text, size_t digits) {
  int64_t value = 0;
  for (size_t i = 0; i < digits; i++) {
    if (text[i] < '0' || text[i] > '9') return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

/* Reads the number at the end of `name`, in the server's format `%010d`. The
 * number has ten characters or, if `eleven`, eleven: only numbers below
 * -999999999 have eleven. Returns its length; 0: there is no such number. */
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
  if (negative && value == 0) return 0; /* no server prints this */
  *sequence = (int32_t)value;
  return width;
}

/* Returns the role of a name, and sets `*sequence` to its number. Sets `*stem`
 * to the length of the part before the marker. */
static enum role parse(const char *name, int32_t *sequence, size_t *stem) {
  size_t length = strlen(name);
  for (int eleven = 0; eleven < 2; eleven++) {
    size_t width = parse_sequence(name, length, eleven, sequence);
    if (!width) continue;
    for (int i = 0; i < MARKERS; i++) {
      size_t m = strlen(markers[i].text);
      if (length < width + m) continue;
      *stem = length - width - m;
      if (memcmp(name + *stem, markers[i].text, m) == 0) return markers[i].role;
    }
  }
  return ROLE_FOREIGN;
}

enum role name_parse(const char *name, int32_t *sequence) {
  size_t stem;
  return parse(name, sequence, &stem);
}

bool name_id(const char *name, const struct name_base *base, uint64_t *id) {
  int32_t sequence;
  size_t stem;
  return strncmp(name, base->text, NAME_BASE) == 0 &&
         parse(name, &sequence, &stem) != ROLE_FOREIGN && stem > NAME_BASE &&
         read_letters(name + NAME_BASE, stem - NAME_BASE, id);
}

/* Orders entries by arrival. */
static int by_sequence(const void *a, const void *b) {
  const struct entry *x = a, *y = b;
  if (x->sequence != y->sequence) return x->sequence < y->sequence ? -1 : 1;
  return strcmp(x->name, y->name);
}

static void count_other(struct listing *listing, const char *name) {
  listing->others += strcmp(name, NAME_READY) != 0;
  listing->has_holder |= strcmp(name, NAME_UNFAIR) == 0;
  listing->has_permits |= strcmp(name, &PERMITS[1]) == 0;
}

/* Returns a sorted list of the names for which `read` returns true. `read` sets
 * the role and the number of the entry. For the other names, only counts them
 * and sets flags (count_other). Returns NULL if there is no memory. */
static struct listing *copy_names(const char *const *names, int count,
                                  bool (*read)(struct entry *e,
                                               const char *name)) {
  size_t text = 0;
  for (int i = 0; i < count; i++) text += strlen(names[i]) + 1;
  struct listing *listing =
      malloc(sizeof *listing + (size_t)count * sizeof(struct entry) + text);
  if (!listing) return NULL;
  char *copy = (char *)&listing->entries[count];
  int n = 0;
  listing->wrapped = listing->has_holder = listing->has_permits = false;
  listing->others = listing->creates = 0;
  for (int i = 0; i < count; i++) {
    struct entry *e = &listing->entries[n];
    if (!read(e, names[i])) {
      count_other(listing, names[i]);
      continue;
    }
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

static bool read_contender(struct entry *e, const char *name) {
  e->role = name_parse(name, &e->sequence);
  return e->role != ROLE_FOREIGN;
}

struct listing *listing_new(const char *const *names, int count) {
  return copy_names(names, count, read_contender);
}

static bool read_any(struct entry *e, const char *name) {
  (void)name;
  e->role = ROLE_FOREIGN;
  e->sequence = 0;
  return true;
}

struct listing *listing_new_of_all(const char *const *names, int count) {
  return copy_names(names, count, read_any);
}

static bool is_twin(const struct entry *own, const struct entry *e) {
  return e->sequence == own->sequence && e->role == own->role;
}

bool listing_is_disordered(const struct listing *listing,
                           const struct entry *own) {
  const struct entry *first = listing->entries, *end = first + listing->count;
  if (listing->wrapped || own->sequence >= SEQUENCE_DANGER) return true;
  for (const struct entry *e = own;
       e-- > first && e->sequence == own->sequence;)
    if (is_twin(own, e)) return true;
  for (const struct entry *e = own; ++e < end && e->sequence == own->sequence;)
    if (is_twin(own, e)) return true;
  return false;
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

bool listing_has_own(const struct listing *listing,
                     const struct name_base *base, enum role role) {
  uint64_t id;
  for (int i = 0; i < listing->count; i++)
    if (listing->entries[i].role == role &&
        name_id(listing->entries[i].name, base, &id))
      return true;
  return false;
}

const struct entry *listing_find_id(const struct listing *listing,
                                    const struct name_base *base, uint64_t id,
                                    enum role role, const char *after) {
  struct entry last = {.name = after};
  bool any = name_parse(after, &last.sequence) == ROLE_FOREIGN;
  for (int i = 0; i < listing->count; i++) {
    const struct entry *e = &listing->entries[i];
    uint64_t found;
    if (e->role == role && name_id(e->name, base, &found) && found == id &&
        (any || by_sequence(e, &last) > 0))
      return e;
  }
  return NULL;
}
