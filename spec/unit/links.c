#include <stdio.h>
#include <string.h>

#include "test.h"
#include "virtual/operator.h"

ABOUT("A link to a virtual server");

#define SECOND INT64_C(1000000000)
#define ADDRESS "127.0.0.1:2181"

/* One client, and what it has received: a letter for each. */
struct stage {
  struct ensemble *ensemble;
  struct zk_link *link;
  struct zk_connection *connection;
  struct zk_session session;
  int64_t now;
  char heard[100];
  int last_rc;
};

static void hear(struct stage *s, const char *letter) {
  strncat(s->heard, letter, sizeof s->heard - strlen(s->heard) - 1);
}

static void accepted(void *self, int server) {
  CHECK_INT(0, server);
  hear(self, "a");
}

static void connected(void *self, const struct zk_session *session) {
  struct stage *s = self;
  if (session->timeout_ms > 0) s->session = *session;
  hear(s, session->timeout_ms > 0 ? "s" : "x");
}

static void reply(void *self, const struct zk_reply *r) {
  struct stage *s = self;
  s->last_rc = r->rc;
  hear(s, "r");
}

static void event(void *self, const struct zk_event *e) {
  (void)e;
  hear(self, "e");
}

static void ended(void *self, enum zk_end end) {
  struct stage *s = self;
  s->connection = NULL;
  hear(s, end == ZK_REFUSED ? "-" : ".");
}

static void open_connection(struct stage *s, const char *address) {
  const struct zk_client client = {s, accepted, connected, reply, event, ended};
  struct zk_hello hello = {.session = s->session.id, .timeout_ms = 4000};
  memcpy(hello.password, s->session.password, sizeof hello.password);
  s->connection = ensemble_open(s->ensemble, s->now, address, &hello, &client);
}

/* Lets time pass; returns what has been received since the last time. */
static const char *pass(struct stage *s, int64_t time) {
  static char heard[100];
  int64_t until = s->now + time;
  for (int64_t next; (next = ensemble_next(s->ensemble)) <= until;) {
    s->now = next;
    ensemble_run(s->ensemble, next);
    CHECK(ensemble_next(s->ensemble) > next);
  }
  s->now = until;
  memcpy(heard, s->heard, sizeof heard);
  s->heard[0] = '\0';
  return heard;
}

static const char *soon(struct stage *s) { return pass(s, SECOND / 100); }

#define HEARS(letters) CHECK_TEXT(letters, soon(s))
/* It connects once more, and hears this. */
#define REOPENS(letters) (open_connection(s, ADDRESS), HEARS(letters))

static void send_op(struct stage *s, enum zk_op op, const char *path) {
  static const struct zk_acl anyone = {ZK_ALL, "world", "anyone"};
  const struct zk_request request = {.op = op,
                                     .path = path,
                                     .version = -1,
                                     .acls = {1, &anyone}};
  ensemble_send(s->ensemble, s->now, s->connection, &request);
}

static bool is_there(struct stage *s, const char *path) {
  return ensemble_look(s->ensemble, path, NULL, NULL);
}

static struct stage begin(void) {
  struct ensemble_settings settings = ensemble_defaults();
  struct stage s = {.ensemble = ensemble_new(&settings, 1, 0)};
  int server = 0;
  s.link = link_new(s.ensemble, ADDRESS, &server, 1);
  return s;
}

/* (The address of the stage is the client's own.) */
static void connect_first(struct stage *s) { REOPENS("as"); }

static void end(struct stage *s) { ensemble_free(s->ensemble); }

/* A test with one stage, `s`, whose client is connected. */
#define STORY(sentence) STORY_(TEST_JOIN(story_, __LINE__), sentence)
#define STORY_(body, sentence)       \
  static void body(struct stage *s); \
  TEST(sentence) {                   \
    struct stage s = begin();        \
    connect_first(&s);               \
    body(&s);                        \
    end(&s);                         \
  }                                  \
  static void body(struct stage *s)

TEST("is at one address, and at no other") {
  struct stage s = begin();
  int server = 0;
  CHECK(!link_new(s.ensemble, ADDRESS, &server, 1));
  CHECK(link_find(s.ensemble, ADDRESS) == s.link);
  open_connection(&s, "127.0.0.1:1");
  CHECK_TEXT("-", soon(&s));
  end(&s);
}

TEST("passes on what is sent before the session is there") {
  struct stage s = begin();
  open_connection(&s, ADDRESS);
  send_op(&s, ZK_CREATE, "/a");
  CHECK_TEXT("asr", soon(&s));
  CHECK(is_there(&s, "/a"));
  end(&s);
}

STORY("tells a server of a client that hangs up after its request") {
  send_op(s, ZK_CLOSE_SESSION, "");
  ensemble_hang_up(s->ensemble, s->now, s->connection);
  HEARS("");
  CHECK(!ensemble_has_session(s->ensemble, s->session.id));
  CHECK_INT(0, ensemble_connections(s->ensemble, 0));
}

STORY("that is cut breaks its connections, and takes new ones") {
  send_op(s, ZK_CREATE, "/a");
  link_cut(s->link, s->now);
  HEARS(".");
  CHECK(!is_there(s, "/a"));
  CHECK_INT(0, ensemble_connections(s->ensemble, 0));
  REOPENS("as");
}

STORY("that refuses does so until it is healed") {
  link_refuse(s->link, s->now);
  HEARS(".");
  REOPENS(".");
  link_heal(s->link, s->now);
  REOPENS("as");
}

STORY("that is frozen keeps everything for later") {
  link_freeze(s->link, s->now);
  send_op(s, ZK_CREATE, "/a");
  CHECK_TEXT("", pass(s, SECOND));
  CHECK(!is_there(s, "/a"));
  link_heal(s->link, s->now);
  HEARS("r");
  CHECK(is_there(s, "/a"));
}

STORY("that is frozen for too long costs the session") {
  link_freeze(s->link, s->now);
  CHECK_TEXT("", pass(s, 7 * SECOND));
  CHECK(!ensemble_has_session(s->ensemble, s->session.id));
  link_heal(s->link, s->now);
  HEARS(".");
  REOPENS("ax.");
}

STORY("that delays does so in both directions") {
  link_delay(s->link, s->now, SECOND / 2);
  send_op(s, ZK_CREATE, "/a");
  CHECK_TEXT("", pass(s, 9 * SECOND / 10));
  CHECK(is_there(s, "/a"));
  CHECK_TEXT("r", pass(s, SECOND / 5));
}

STORY("that drops requests breaks when it is healed") {
  link_drop_requests(s->link, s->now);
  send_op(s, ZK_CREATE, "/a");
  HEARS("");
  CHECK(!is_there(s, "/a"));
  link_heal(s->link, s->now);
  HEARS(".");
}

STORY("that drops replies lets the request be carried out") {
  link_drop_replies(s->link, s->now);
  send_op(s, ZK_CREATE, "/a");
  HEARS("");
  CHECK(is_there(s, "/a"));
}

STORY("that is half open is closed for the server alone") {
  link_half_open(s->link, s->now);
  HEARS("");
  CHECK_INT(0, ensemble_connections(s->ensemble, 0));
  send_op(s, ZK_CREATE, "/a");
  CHECK_TEXT("", pass(s, SECOND));
  CHECK(!is_there(s, "/a"));
  ensemble_hang_up(s->ensemble, s->now, s->connection);
}

STORY("loses the reply that it is to lose, and refuses from then on") {
  link_lose_reply(s->link, ZK_CREATE);
  send_op(s, ZK_EXISTS, "/a");
  send_op(s, ZK_CREATE, "/a");
  HEARS("r.");
  CHECK(is_there(s, "/a"));
  CHECK(link_has_sprung(s->link, LINK_LOST));
  CHECK(!link_has_sprung(s->link, LINK_LOST));
  CHECK_INT(1, ensemble_sprung(s->ensemble));
  REOPENS(".");
}

STORY("keeps a request, which is applied late in the same session") {
  const int kinds[] = {ZK_DELETE, ZK_CREATE};
  link_keep_request(s->link, kinds, 2);
  send_op(s, ZK_CREATE, "/a");
  HEARS(".");
  CHECK(link_has_sprung(s->link, LINK_KEPT));
  CHECK(!link_apply_late(s->link, s->now));
  REOPENS("as");
  CHECK(link_apply_late(s->link, s->now));
  send_op(s, ZK_EXISTS, "/a");
  HEARS("r");
  CHECK_INT(ZK_OK, s->last_rc);
  CHECK(link_has_sprung(s->link, LINK_APPLIED));
}

STORY("breaks after the reply that is to be the last") {
  link_cut_after_reply(s->link, ZK_CREATE);
  send_op(s, ZK_CREATE, "/a");
  send_op(s, ZK_CREATE, "/b");
  HEARS("r.");
  CHECK(link_has_sprung(s->link, LINK_LAST));
}

STORY("breaks at the nth message, unless the trap is disarmed") {
  link_cut_at(s->link, 2);
  for (int i = 0; i < 3; i++) send_op(s, ZK_PING, "");
  HEARS("r.");
  REOPENS("as");
  link_cut_at(s->link, 1);
  link_lose_reply(s->link, ZK_PING);
  link_disarm(s->link);
  send_op(s, ZK_PING, "");
  HEARS("r");
}

TEST("tells kinds of transactions by their first parts") {
  struct zk_request parts[] = {{.op = ZK_CREATE}, {.op = ZK_CREATE}};
  struct zk_request multi = {.op = ZK_MULTI, .part_count = 2, .parts = parts};
  CHECK_INT(ZK_SYNC, zk_request_kind(&(struct zk_request){.op = ZK_SYNC}));
  CHECK_INT(1401, zk_request_kind(&multi));
  parts[0].op = ZK_CHECK;
  CHECK_INT(141301, zk_request_kind(&multi));
  multi.part_count = 1;
  CHECK_INT(1413, zk_request_kind(&multi));
}

TEST("goes to the next server that is there") {
  struct ensemble_settings settings = ensemble_defaults();
  settings.servers = 3;
  struct stage s = {.ensemble = ensemble_new(&settings, 1, 0)};
  const int servers[] = {1, 0};
  s.link = link_new(s.ensemble, ADDRESS, servers, 2);
  server_stop(s.ensemble, 0, 1);
  connect_first(&s);
  CHECK_INT(1, ensemble_connections(s.ensemble, 0));
  server_stop(s.ensemble, s.now, 0);
  CHECK_TEXT(".", soon(&s));
  open_connection(&s, ADDRESS);
  CHECK_TEXT("-", soon(&s));
  end(&s);
}
