/* The family's rules, by tables. */
#include "protocol/rule.h"

#include <stdio.h>
#include <string.h>

#include "../sim/memory.h"
#include "test.h"

ABOUT("Among the contenders in a list");

enum { LIST_MAX = 10 };

#define COUNT(list) (int)(sizeof(list) / sizeof *(list))

/* "1r 2w 3": as in stage.h, by numbers and suffixes; "0x" is no contender. */
static struct listing *list(const char *text) {
  static const char *const markers[][2] = {
      {"", "-lock-"},   {"r", "-__READ__"}, {"w", "-__WRIT__"},
      {"p", "-lease-"}, {"k", "__lock__"},  {"kr", "__rlock__"},
      {"l", "-latch-"}, {"m", "-member-"},  {"x", "-"}};
  static char names[LIST_MAX][40];
  const char *pointers[LIST_MAX];
  char suffix[4];
  int count = 0, number, length;
  for (; sscanf(text, " %d%n", &number, &length) == 1; text += length) {
    text += length;
    length = (int)strspn(text, "rwpklmx");
    snprintf(suffix, sizeof suffix, "%.*s", length, text);
    for (int i = 0; i < COUNT(markers); i++)
      if (strcmp(suffix, markers[i][0]) == 0)
        snprintf(names[count], sizeof names[count], "x%s%010d", markers[i][1],
                 number);
    pointers[count] = names[count];
    count++;
  }
  return listing_new(pointers, count);
}

static const struct entry *numbered(const struct listing *listing, int number,
                                    enum role role) {
  for (int i = 0; i < listing->count; i++)
    if (listing->entries[i].sequence == number &&
        listing->entries[i].role == role)
      return &listing->entries[i];
  test_fail("%d is not in the list", number);
}

/* "count: nearest before", and "+" behind each whose deletion proves it. */
static const char *ahead_of(enum kind kind, enum layout layout, int number,
                            const char *text) {
  static char result[60];
  struct listing *listing = list(text);
  struct ahead ahead;
  rule_apply(kind, 2, listing,
             numbered(listing, number, rule_role(kind, layout)), &ahead);
  snprintf(result, sizeof result, "%d:", ahead.count);
  if (ahead.nearest)
    sprintf(result + strlen(result), " %d%s", (int)ahead.nearest->sequence,
            ahead.nearest_proves ? "+" : "");
  if (ahead.before)
    sprintf(result + strlen(result), " %d%s", (int)ahead.before->sequence,
            ahead.before_proves ? "+" : "");
  listing_free(listing);
  return result;
}

#define MUTEX_IS(expected, number, text) \
  CHECK_TEXT(expected, ahead_of(KIND_MUTEX, LAYOUT_CURATOR, number, text))
#define READER_IS(expected, number, text) \
  CHECK_TEXT(expected, ahead_of(KIND_READ, LAYOUT_CURATOR, number, text))
#define WRITER_IS(expected, number, text) \
  CHECK_TEXT(expected, ahead_of(KIND_WRITE, LAYOUT_CURATOR, number, text))
#define PERMIT_IS(expected, number, text) \
  CHECK_TEXT(expected, ahead_of(KIND_PERMIT, LAYOUT_CURATOR, number, text))

TEST("a mutex waits for every lock node ahead") {
  MUTEX_IS("0:", 1, "1");
  MUTEX_IS("0:", 1, "1 2 3");
  MUTEX_IS("1: 1+", 2, "1 2");
  MUTEX_IS("2: 2+ 1+", 3, "3 1 2");
  MUTEX_IS("3: 5+ 4+", 9, "1 4 5 9 12");
  MUTEX_IS("0:", 3, "1r 2w 3");
  MUTEX_IS("1: 2+", 4, "1p 2 3k 4");
}

TEST("a reader waits for the writers ahead") {
  READER_IS("0:", 1, "1r");
  READER_IS("0:", 3, "1r 2r 3r 4w");
  READER_IS("1: 1+", 3, "1w 2r 3r");
  READER_IS("2: 3+ 1+", 4, "1w 2r 3w 4r");
  READER_IS("0:", 2, "1 2r");
}

TEST("a reader does not wait for the writer of its own number") {
  READER_IS("0:", 4, "4w 4r");
  READER_IS("1: 3+", 4, "3w 4w 4r");
}

TEST("a writer waits for everybody ahead; a writer's deletion is no proof") {
  WRITER_IS("0:", 1, "1w 2r");
  WRITER_IS("1: 1+", 2, "1r 2w");
  WRITER_IS("1: 1", 2, "1w 2w");
  WRITER_IS("2: 2+ 1", 3, "1w 2r 3w");
  WRITER_IS("2: 2 1+", 3, "1r 2w 3w");
}

TEST("permits are counted, not ordered") {
  PERMIT_IS("0:", 1, "1p 2p");
  PERMIT_IS("1:", 1, "1p 2p 3p");
  PERMIT_IS("1:", 3, "1p 2p 3p");
  PERMIT_IS("0:", 3, "1 2 3p 4 5p");
}

TEST("kazoo's have their own spelling, and the same order") {
  CHECK_TEXT("1: 1+", ahead_of(KIND_MUTEX, LAYOUT_KAZOO, 3, "1k 2 3k"));
  CHECK_TEXT("1: 2+", ahead_of(KIND_READ, LAYOUT_KAZOO, 3, "1kr 2k 3kr"));
  CHECK_TEXT("2: 2 1+", ahead_of(KIND_WRITE, LAYOUT_KAZOO, 3, "1kr 2k 3k"));
  CHECK_TEXT("0:", ahead_of(KIND_WRITE, LAYOUT_KAZOO, 3, "1w 2r 3k"));
}

TEST("a latch waits for every latch ahead, and for nobody else") {
  CHECK_TEXT("0:", ahead_of(KIND_MUTEX, LAYOUT_LATCH, 5, "1 2r 3m 4p 5l 6l"));
  CHECK_TEXT("2: 2+ 1+", ahead_of(KIND_MUTEX, LAYOUT_LATCH, 5, "1l 2l 3k 5l"));
  MUTEX_IS("1: 1+", 5, "1 2l 3m 5");
}

static bool holds(const char *text, int number, enum role role) {
  struct listing *listing = list(text);
  bool result = rule_holds(listing, numbered(listing, number, role));
  listing_free(listing);
  return result;
}

TEST("whoever nobody keeps waiting holds") {
  CHECK(holds("1 2", 1, ROLE_LOCK));
  CHECK(!holds("1 2", 2, ROLE_LOCK));
  CHECK(holds("1r 2r 3w", 2, ROLE_READ));
  CHECK(!holds("1r 2r 3w", 3, ROLE_WRITE));
  CHECK(!holds("1w 2r", 2, ROLE_READ));
  CHECK(holds("4w 4r", 4, ROLE_READ)); /* a downgrade */
  CHECK(holds("1kr 2kr", 2, ROLE_KAZOO_READ));
  CHECK(!holds("1k 2kr", 2, ROLE_KAZOO_READ));
  CHECK(holds("1 2l 3l", 2, ROLE_LATCH));
  CHECK(!holds("1 2l 3l", 3, ROLE_LATCH));
}

TEST("no member holds anything, wherever it stands") {
  CHECK(!holds("1m 2m", 1, ROLE_MEMBER));
  CHECK(!holds("1m 2m", 2, ROLE_MEMBER));
  CHECK(holds("1m 2", 2, ROLE_LOCK));
}

static int members(const char *text) {
  struct listing *listing = list(text);
  int count = rule_members(listing);
  listing_free(listing);
  return count;
}

TEST("a double barrier's members are no other kind's") {
  CHECK_INT(0, members(""));
  CHECK_INT(3, members("1m 2m 3m"));
  CHECK_INT(3, members("1m 2 3x 4x"));
  CHECK_INT(0, members("1 2r 3w 4p 5k 6kr 7l"));
}

TEST("each kind has a role, and each reader its writer") {
  static const struct {
    enum kind kind;
    enum role curator, kazoo, latch;
  } rows[] = {{KIND_MUTEX, ROLE_LOCK, ROLE_KAZOO_LOCK, ROLE_LATCH},
              {KIND_READ, ROLE_READ, ROLE_KAZOO_READ, ROLE_READ},
              {KIND_WRITE, ROLE_WRITE, ROLE_KAZOO_LOCK, ROLE_WRITE},
              {KIND_PERMIT, ROLE_PERMIT, ROLE_PERMIT, ROLE_PERMIT},
              {KIND_MEMBER, ROLE_MEMBER, ROLE_MEMBER, ROLE_MEMBER}};
  for (int i = 0; i < COUNT(rows); i++) {
    CHECK_INT(rows[i].curator, rule_role(rows[i].kind, LAYOUT_CURATOR));
    CHECK_INT(rows[i].kazoo, rule_role(rows[i].kind, LAYOUT_KAZOO));
    CHECK_INT(rows[i].latch, rule_role(rows[i].kind, LAYOUT_LATCH));
  }
  CHECK_INT(ROLE_WRITE, rule_writer(ROLE_READ));
  CHECK_INT(ROLE_KAZOO_LOCK, rule_writer(ROLE_KAZOO_READ));
}

/* The roles, by their suffixes. */
static const struct {
  enum role role;
  const char *suffix;
} roles[] = {{ROLE_LOCK, "lock"},      {ROLE_READ, "r"},
             {ROLE_WRITE, "w"},        {ROLE_PERMIT, "p"},
             {ROLE_KAZOO_LOCK, "k"},   {ROLE_KAZOO_READ, "kr"},
             {ROLE_LATCH, "l"},        {ROLE_MEMBER, "m"},
             {ROLE_FOREIGN, "foreign"}};

static bool blocks(enum kind kind, enum role own, int32_t number,
                   enum role other, int32_t others) {
  struct entry a = {.name = "own", .sequence = number, .role = own},
               b = {.name = "other", .sequence = others, .role = other};
  return rule_blocks(kind, &a, &b);
}

/* Of which roles the next lower number keeps `own` waiting. */
static const char *blockers_of(enum kind kind, enum role own) {
  static char text[80];
  text[0] = '\0';
  for (int i = 0; i < COUNT(roles); i++)
    if (roles[i].role != ROLE_PERMIT && roles[i].role != ROLE_FOREIGN &&
        blocks(kind, own, 5, roles[i].role, 4))
      snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
               text[0] ? " " : "", roles[i].suffix);
  return text;
}

TEST("every pair of roles is decided") {
  CHECK_TEXT("lock", blockers_of(KIND_MUTEX, ROLE_LOCK));
  CHECK_TEXT("k", blockers_of(KIND_MUTEX, ROLE_KAZOO_LOCK));
  CHECK_TEXT("l", blockers_of(KIND_MUTEX, ROLE_LATCH));
  CHECK_TEXT("w", blockers_of(KIND_READ, ROLE_READ));
  CHECK_TEXT("k", blockers_of(KIND_READ, ROLE_KAZOO_READ));
  CHECK_TEXT("r w", blockers_of(KIND_WRITE, ROLE_WRITE));
  CHECK_TEXT("k kr", blockers_of(KIND_WRITE, ROLE_KAZOO_LOCK));
  CHECK(!blocks(KIND_READ, ROLE_READ, 5, ROLE_WRITE, 5));
  CHECK(!blocks(KIND_WRITE, ROLE_WRITE, 5, ROLE_READ, 5));
}

/* The roles that are of another kind, of those that have one. */
static const char *others_of(enum kind kind, enum layout layout) {
  static char text[80];
  text[0] = '\0';
  for (int i = 0; i < COUNT(roles); i++)
    if (rule_is_of_other_kind(kind, layout, roles[i].role))
      snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
               text[0] ? " " : "", roles[i].suffix);
  return text;
}

TEST("the roles of other kinds are known by each kind and layout") {
  CHECK_TEXT("r w k kr l m", others_of(KIND_MUTEX, LAYOUT_CURATOR));
  CHECK_TEXT("lock r w kr l m", others_of(KIND_MUTEX, LAYOUT_KAZOO));
  CHECK_TEXT("lock r w k kr m", others_of(KIND_MUTEX, LAYOUT_LATCH));
  CHECK_TEXT("lock k kr l m", others_of(KIND_READ, LAYOUT_CURATOR));
  CHECK_TEXT("lock k kr l m", others_of(KIND_WRITE, LAYOUT_CURATOR));
  CHECK_TEXT("lock r w l m", others_of(KIND_READ, LAYOUT_KAZOO));
  CHECK_TEXT("lock r w l m", others_of(KIND_WRITE, LAYOUT_KAZOO));
  CHECK_TEXT("lock r w k kr l", others_of(KIND_MEMBER, LAYOUT_CURATOR));
  CHECK_TEXT("lock r w k kr l m", others_of(KIND_UNFAIR, LAYOUT_CURATOR));
  CHECK_TEXT("lock r w k kr l m", others_of(KIND_PERMIT, LAYOUT_CURATOR));
}
