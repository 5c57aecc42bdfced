#include "protocol/name.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

ABOUT("A node's name");

#define COUNT(list) (int)(sizeof(list) / sizeof *(list))

static const unsigned char bytes[16] = {0,    0x11, 0x22, 0x33, 0x44, 0x55,
                                        0x66, 0x77, 0xff, 0x99, 0xaa, 0,
                                        0,    0x10, 0,    7};

static struct name_base base(void) {
  struct name_base base;
  name_base_init(&base, bytes);
  return base;
}

static const char *spelled(uint64_t id, enum role role) {
  static char name[NAME_MAX_OWN];
  struct name_base own = base();
  name_format(name, sizeof name, &own, id, role);
  return name;
}

TEST("is five letters of the session's, its number, and a marker") {
  CHECK_TEXT("04Omd1-lock-", spelled(1, ROLE_LOCK));
  CHECK_TEXT("04Omdz-__READ__", spelled(61, ROLE_READ));
  CHECK_TEXT("04Omd10-__WRIT__", spelled(62, ROLE_WRITE));
  CHECK_TEXT("04Omd2-lease-", spelled(2, ROLE_PERMIT));
  CHECK_TEXT("04Omd2-latch-", spelled(2, ROLE_LATCH));
  CHECK_TEXT("04Omd2-member-", spelled(2, ROLE_MEMBER));
  CHECK_TEXT("04Omd1__lock__", spelled(1, ROLE_KAZOO_LOCK));
  CHECK_TEXT("04Omd1__rlock__", spelled(1, ROLE_KAZOO_READ));
}

/* The five letters that are drawn by this number. */
static struct name_base drawn(uint64_t number) {
  struct name_base base;
  unsigned char random[16] = {0};
  for (int i = 16; i-- > 8; number >>= 8) random[i] = number & 255u;
  name_base_init(&base, random);
  return base;
}

TEST("begins with one of 62^5 words, each of which is as likely") {
  static const uint64_t all = UINT64_C(62) * 62 * 62 * 62 * 62;
  const uint64_t numbers = UINT64_C(1) << 40; /* there are so many */
  CHECK_TEXT("00000", drawn(0).text);
  CHECK_TEXT("zzzzz", drawn(all - 1).text);
  CHECK_TEXT("00000", drawn(all).text);
  CHECK_TEXT("10000", drawn(all / 62).text);
  CHECK(strcmp(drawn(numbers - 1).text, drawn(numbers / 2 - 1).text) != 0);
  /* Some are drawn by one number more than others. */
  CHECK(numbers / all >= 1000);
}

TEST("tells its role and number") {
  static const struct {
    const char *name;
    enum role role;
    int32_t number;
  } rows[] = {
      {"_c_x-lock-0000000007", ROLE_LOCK, 7},
      {"-lock-0000000007", ROLE_LOCK, 7},
      {"x-__READ__0000000000", ROLE_READ, 0},
      {"x-__WRIT__2147483647", ROLE_WRITE, 2147483647},
      {"x-lease-0000000010", ROLE_PERMIT, 10},
      {"x-latch-0000000010", ROLE_LATCH, 10},
      {"x-member-0000000010", ROLE_MEMBER, 10},
      {"x__lock__0000000010", ROLE_KAZOO_LOCK, 10},
      {"x__rlock__0000000010", ROLE_KAZOO_READ, 10},
      {"x-lock--000000001", ROLE_LOCK, -1},
      {"x-lock--999999999", ROLE_LOCK, -999999999},
      {"x-lock--1000000000", ROLE_LOCK, -1000000000},
      {"x-lock--2147483648", ROLE_LOCK, INT32_MIN},
  };
  for (int i = 0; i < COUNT(rows); i++) {
    int32_t number = 0;
    CHECK_INT(rows[i].role, name_parse(rows[i].name, &number));
    CHECK_INT(rows[i].number, number);
  }
}

TEST("is nobody's where the spelling is another") {
  static const char *const names[] = {
      "",
      "lock",
      "x-lock-",
      "x-lock-000000007",
      "x-lock-00000000007",
      "x-lock-000000007x",
      "x-lock-2147483648",
      "x-lock--000000000",
      "x-lock--0999999999",
      "x-lock--2147483649",
      "x-LOCK-0000000007",
      "0000000007",
      "x-lock0000000007",
      "holder",
      "ready",
      "latch-0000000007",
      "member-0000000007",
      "x-latch0000000007",
  };
  for (int i = 0; i < COUNT(names); i++) {
    int32_t number;
    test_at(names[i], i);
    if (name_parse(names[i], &number) != ROLE_FOREIGN)
      test_fail("this is taken for a contender");
  }
}

TEST("has the id that its session gave it; others' have none") {
  struct name_base own = base(), other;
  unsigned char more[16];
  char name[NAME_MAX_OWN + 16];
  uint64_t id = 0;
  memcpy(more, bytes, sizeof more);
  more[15]++;
  name_base_init(&other, more);
  snprintf(name, sizeof name, "%s0000000007",
           spelled(UINT64_C(0xabcdef012345), ROLE_LOCK));
  CHECK(name_id(name, &own, &id));
  CHECK_INT(0xabcdef012345, id);
  CHECK(!name_id(name, &other, &id));
  snprintf(name, sizeof name, "%s0000000007", spelled(9, ROLE_KAZOO_READ));
  CHECK(name_id(name, &own, &id));
  CHECK_INT(9, id);
  snprintf(name, sizeof name, "%s0000000007", spelled(UINT64_MAX, ROLE_LOCK));
  CHECK(name_id(name, &own, &id) && id == UINT64_MAX);
}

TEST("has no id where it is not spelled as ours are") {
  static const char *const ends[] = {
      "",
      "1",
      "1-lock-",
      "-lock-0000000001",             /* no id */
      "01-lock-0000000001",           /* no number of ours */
      "1_-lock-0000000001",           /* no letter */
      "1-x-lock-0000000001",          /* another stem */
      "1lock-0000000001",             /* no marker */
      "1-lock-000000001",             /* no sequence number */
      "LygHa16AHYG-lock-0000000001",  /* too large by one */
      "111111111111-lock-0000000001", /* too long */
      "0011223344556677-lock-0000000001",
  };
  struct name_base own = base();
  for (int i = 0; i < COUNT(ends); i++) {
    char name[80];
    uint64_t id;
    snprintf(name, sizeof name, "%s%s", own.text, ends[i]);
    test_at(name, i);
    if (name_id(name, &own, &id)) test_fail("this has an id");
  }
}

static struct listing *listing_of(const char *const *names, int count) {
  struct listing *listing = listing_new(names, count);
  CHECK(listing != NULL);
  return listing;
}

TEST("is found in a list by its id, if it has the role that is looked for") {
  char name[NAME_MAX_OWN + 16];
  struct name_base own = base();
  snprintf(name, sizeof name, "%s0000000007", spelled(1, ROLE_LOCK));
  struct listing *listing = listing_of((const char *[]){name}, 1);
  CHECK(listing_find_id(listing, &own, 1, ROLE_LOCK, ""));
  CHECK(!listing_find_id(listing, &own, 1, ROLE_READ, ""));
  listing_free(listing);
}

/* Does the list of these tell who is ahead of the first? */
static bool orders(const char *const *names, int count) {
  struct listing *listing = listing_of(names, count);
  bool result =
      !listing_is_disordered(listing, listing_find(listing, names[0]));
  listing_free(listing);
  return result;
}

TEST("tells no order near the end of the counter") {
  CHECK(orders((const char *[]){"a-lock-2147418111"}, 1));
  CHECK(!orders((const char *[]){"a-lock-2147418112"}, 1));
  CHECK(!orders((const char *[]){"a-lock-2147483647"}, 1));
  CHECK(orders((const char *[]){"a-lock-0000000001", "b-lock-2147483647"}, 2));
  CHECK(
      !orders((const char *[]){"a-lock-0000000001", "b-lock--2147483648"}, 2));
  CHECK(!orders((const char *[]){"a-lock-0000000001", "b-lock--000000001"}, 2));
}

TEST("tells no order where two of a role have its number") {
  CHECK(!orders((const char *[]){"a-lock-0000000001", "b-lock-0000000001"}, 2));
  CHECK(!orders((const char *[]){"b-lock-0000000001", "a-lock-0000000001"}, 2));
  CHECK(orders((const char *[]){"a-__READ__0000000001", "b-__WRIT__0000000001"},
               2));
}
