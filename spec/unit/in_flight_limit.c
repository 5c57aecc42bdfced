#include "io/in_flight_limit.h"

#include <string.h>

#include "test.h"

ABOUT("The limit of requests in flight");

static struct in_flight_limit in_flight_limit;

/* Senders of so many requests each; what they send, by their letters. */
struct user {
  struct sender sender;
  char letter;
  int left;
};

static char sent[1000];

static bool send_one(struct sender *sender) {
  struct user *user = sender->owner;
  sent[strlen(sent)] = user->letter;
  return --user->left > 0;
}

static struct user user_of(char letter, int requests, int cost) {
  return (struct user){.sender = {.cost = cost, .send = send_one},
                       .letter = letter,
                       .left = requests};
}

static void join(struct user *user) {
  user->sender.owner = user;
  in_flight_limit_join(&in_flight_limit, &user->sender);
}

static void begin(void) {
  memset(sent, 0, sizeof sent);
  in_flight_limit_init(&in_flight_limit);
}

TEST("admits up to 4 MiB, for any number of requests") {
  begin();
  struct user a = user_of('a', 100, 1024 * 1024);
  join(&a);
  CHECK_INT(4, (int)strlen(sent));
  in_flight_limit_leave(&in_flight_limit, 1024 * 1024);
  CHECK_INT(5, (int)strlen(sent));
  CHECK_INT(IN_FLIGHT_BYTES, in_flight_limit.bytes);
}

TEST("lets what is larger than itself in when it is empty, and alone") {
  begin();
  struct user a = user_of('a', 1, 10), b = user_of('b', 2, IN_FLIGHT_BYTES + 1);
  join(&a);
  join(&b);
  CHECK_TEXT("a", sent);
  in_flight_limit_leave(&in_flight_limit, 10);
  CHECK_TEXT("ab", sent);
  struct user c = user_of('c', 1, 1);
  join(&c);
  CHECK_TEXT("ab", sent);
  in_flight_limit_leave(&in_flight_limit, IN_FLIGHT_BYTES + 1);
  CHECK_TEXT("abb", sent);
  in_flight_limit_leave(&in_flight_limit, IN_FLIGHT_BYTES + 1);
  CHECK_TEXT("abbc", sent);
}

TEST("gives everybody a turn") {
  begin();
  struct user full = user_of('-', 64, 0);
  join(&full);
  struct user a = user_of('a', 3, 0), b = user_of('b', 2, 0);
  join(&a);
  join(&b);
  memset(sent, 0, sizeof sent);
  for (int i = 0; i < 5; i++) in_flight_limit_leave(&in_flight_limit, 0);
  CHECK_TEXT("ababa", sent);
  CHECK(!in_flight_limit.first);
}
