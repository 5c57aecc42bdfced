/* Fuzzes what servers say: one session, whose users do as the input says, and a
 * server that answers, tells, cuts and lies as the input says.  Nothing that it
 * says may trip an assertion of ours; whoever is told that he holds has a node
 * that the server has called our session's; and when the session is closed
 * everybody has been told, and nothing is left. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/session.h"

enum { USERS = 12, REQUESTS = 4096, STEPS = 600, NAMES = 24, LONG = 200 };

#define MILLISECOND INT64_C(1000000)

struct input {
  const uint8_t *at, *end;
};

struct user {
  struct contender *contender, *gate; /* NULL: none, or forgotten */
  char writer[NAME_MAX_OWN];
  bool granted, refused, over;
};

struct request {
  uint64_t serial;
  enum op_kind kind;
  char path[LONG];
};

static struct input input;
static struct session session;
static struct user users[USERS];
static struct request requests[REQUESTS];
static unsigned first, last; /* those that are not answered */
static int64_t now, id;
static const char *const paths[] = {"/a", "/a/b", "/a/b/c"};

static unsigned next(unsigned below) {
  unsigned byte = input.at < input.end ? *input.at++ : 0;
  return below ? byte % below : byte;
}

/* Users. */

static void hear(struct contender *c, enum news news) {
  struct user *u = c->owner;
  switch (news) {
    case NEWS_GRANTED:
      assert(!u->granted && !u->refused);
      assert(c->node.owner_session == session_number(&session));
      assert(session_number(&session) != 0);
      assert(session_now(&session) < session_lease(&session));
      u->granted = true;
      break;
    case NEWS_REFUSED:
      assert(!u->granted && !u->refused);
      u->refused = true;
      break;
    case NEWS_LOST:
      assert(u->granted && !u->over);
      u->over = true;
      break;
    case NEWS_FORGOTTEN:
      assert(u->granted || u->refused);
      free(u->contender);
      free(u->gate);
      u->contender = u->gate = NULL;
      break;
    default:
      break;
  }
}

static const struct contender *some_writer(void) {
  for (int i = 0; i < USERS; i++) {
    const struct contender *c = users[i].contender;
    if (c && c->options.kind == KIND_WRITE && c->state == CONTENDER_HELD)
      return c;
  }
  return NULL;
}

static void acquire(struct user *u) {
  static const enum kind kinds[] = {KIND_MUTEX, KIND_MUTEX,  KIND_READ,
                                    KIND_WRITE, KIND_PERMIT, KIND_UNFAIR};
  char path[40];
  struct contender_options options = {.kind = kinds[next(6)],
                                      .deadline = NEVER,
                                      .max_hold = NEVER,
                                      .poll_interval = 50 * MILLISECOND,
                                      .permits = 1};
  unsigned bits = next(0);
  options.layout =
      bits & 1 && options.kind != KIND_PERMIT ? LAYOUT_KAZOO : LAYOUT_CURATOR;
  options.patient = bits & 6;
  if (bits & 8) options.deadline = now + 500 * MILLISECOND;
  if (bits & 16) options.max_hold = 300 * MILLISECOND;
  if (options.kind == KIND_MUTEX && bits & 32)
    options.strategy = (enum strategy)next(3);
  else if (options.kind == KIND_MUTEX && bits & 64)
    options.local_turns = 2;
  const struct contender *writer = bits & 128 ? some_writer() : NULL;
  snprintf(path, sizeof path, "%s", paths[next(3)]);
  if (writer && options.kind == KIND_READ) {
    options.downgrade = true;
    options.layout = writer->options.layout;
    options.writer_token = contender_token(writer);
    int32_t number;
    name_parse(writer->node.name, &number);
    options.writer_number = number;
    snprintf(path, sizeof path, "%s",
             directory_path(&writer->queue->directory));
  }
  if (options.kind == KIND_PERMIT) strcat(path, PERMITS);
  *u = (struct user){.contender = malloc(contender_size(sizeof path))};
  if (options.kind == KIND_PERMIT)
    u->gate = calloc(1, contender_size(sizeof path));
  contender_init(u->contender, &options, hear, u);
  u->contender->gate = u->gate;
  if (!session_acquire(&session, now, u->contender, path)) abort();
}

static void act(void) {
  struct user *u = &users[next(USERS)];
  if (!u->contender && session.state != SESSION_CLOSED)
    acquire(u);
  else if (u->contender && u->granted && !u->over) {
    u->over = true;
    session_release(&session, now, u->contender);
  } else if (u->contender && !u->granted && next(2)) {
    session_cancel(&session, now, u->contender);
  }
}

/* The server. */

static bool submit(void *self, const struct op *op, const struct op *before) {
  if (last - first + (before != NULL) >= REQUESTS) return false;
  if (before) submit(self, before, NULL);
  struct request *r = &requests[last++ % REQUESTS];
  r->serial = op->serial;
  r->kind = op->kind;
  snprintf(r->path, sizeof r->path, "%s", op->path);
  return true;
}

static void open(void *self) { (void)self; }

/* Of one of ours; or somebody else's, perhaps with our mark; or nothing. */
static void spell(char *name, size_t size) {
  static const char *const oddities[] = {"",
                                         "/",
                                         "x",
                                         "x-lock-",
                                         "x-lock-00000000001",
                                         "x-lock--000000000",
                                         "-lock-2147483647",
                                         "x-lock--2147483648",
                                         "holder",
                                         "x/y-lock-0000000001",
                                         "__lock__0000000003"};
  const struct contender *c = users[next(USERS)].contender;
  enum role role = (enum role)(1 + next(6));
  struct name_base base = session.pipeline.base;
  switch (next(5)) {
    case 0:
      snprintf(name, size, "%s", oddities[next(11)]);
      return;
    case 1:
    case 2:
      if (c && c->gate && next(2)) c = c->gate;
      if (c && c->queue && next(8)) {
        snprintf(name, size, "%.*s", NAME_MAX_OWN, c->node.name);
        if (!contender_has_node(c) && strlen(name) > NAME_BASE)
          snprintf(name + strlen(name), 12, "%010u", next(12));
        return;
      }
      /* fallthrough */
    case 3:
      name_format(name, size, &base, next(16), role);
      break;
    default:
      memset(base.text, '7', NAME_BASE);
      name_format(name, size, &base, next(16), role);
  }
  snprintf(name + strlen(name), 12, "%010d", (int)next(12) - 1);
}

static struct listing *some_listing(void) {
  static char names[NAMES][LONG];
  const char *pointers[NAMES];
  int count = (int)next(NAMES);
  for (int i = 0; i < count; i++) {
    spell(names[i], sizeof names[i]);
    pointers[i] = names[i];
  }
  return next(30) ? listing_new(pointers, count) : NULL;
}

static void some_path(char *path, size_t size, const struct request *r) {
  char name[LONG];
  unsigned dice = next(6);
  if (dice == 0) {
    snprintf(path, size, "%s", r->path);
  } else if (dice == 1) {
    spell(name, sizeof name);
    snprintf(path, size, "%s/%.100s", paths[next(3)], name);
  } else if (dice == 2) {
    snprintf(path, size, "%.80s%0*u", r->path, (int)next(100), next(10));
  } else {
    snprintf(path, size, "%.180s%010d", r->path, (int)next(12));
  }
}

static int some_code(void) {
  static const int codes[] = {REPLY_NO_NODE,
                              REPLY_NODE_EXISTS,
                              REPLY_NO_AUTH,
                              REPLY_NOT_EMPTY,
                              REPLY_LOST,
                              REPLY_SESSION_MOVED,
                              REPLY_UNIMPLEMENTED,
                              REPLY_BAD_ARGUMENTS,
                              REPLY_NO_CHILDREN_FOR_EPHEMERALS,
                              -999,
                              5,
                              REASON_NO_MEMORY};
  unsigned dice = next(17);
  return dice < 5 ? REPLY_OK : codes[dice - 5];
}

static int64_t some_owner(void) {
  return next(4) ? session_number(&session) : (int64_t)next(3) - 1;
}

static void answer_one(void) {
  char path[LONG];
  const struct request *r = &requests[first % REQUESTS];
  if (first == last) return;
  struct reply reply = {.rc = some_code(),
                        .czxid = (int64_t)next(8) - 1,
                        .owner = some_owner(),
                        .version = (int)next(3) - 1,
                        .size = (int)next(4) - 1,
                        .data = "abc",
                        .revoked = next(20) == 1};
  some_path(path, sizeof path, r);
  reply.path = r->kind == OP_CREATE && next(20) ? path : NULL;
  if (r->kind == OP_LIST) reply.listing = some_listing();
  first++;
  session_reply(&session, now, r->serial, &reply);
  listing_free(reply.listing);
}

/* As a server answers that does not lie: mostly, so that much is reached. */
static void answer_well(void) {
  static unsigned number;
  char path[LONG];
  const struct request *r = &requests[first % REQUESTS];
  if (first == last) return;
  struct reply reply = {.owner = session_number(&session), .czxid = 1};
  snprintf(path, sizeof path, "%.180s%010u", r->path, number++ % 20);
  if (r->kind == OP_CREATE) {
    reply.path = strstr(r->path, "/holder") ? r->path : path;
  } else if (r->kind == OP_PING) {
    reply.rc = REPLY_NO_NODE;
  } else if (r->kind == OP_LIST) {
    const char *names[USERS * 2];
    int count = 0;
    for (int i = 0; i < USERS; i++) {
      const struct contender *both[] = {users[i].contender, users[i].gate};
      for (int j = 0; j < 2; j++)
        if (both[j] && both[j]->queue && contender_has_node(both[j]))
          names[count++] = both[j]->node.name;
    }
    reply.listing = listing_new(names, count);
  }
  first++;
  session_reply(&session, now, r->serial, &reply);
  listing_free(reply.listing);
}

static void tell(void) {
  char path[LONG], name[LONG];
  spell(name, sizeof name);
  snprintf(path, sizeof path, "%s%s%.100s", next(8) ? paths[next(3)] : "",
           next(8) ? "/" : "", name);
  session_event(&session, now, (enum watch_event)next(3), path);
}

static void connect_anew(void) {
  static const int64_t timeouts[] = {1, 40, 4000, 10000, INT32_MAX};
  int64_t number = id != 0 && next(4) ? id : 1 + (int64_t)next(3);
  first = last;
  session_connected(&session, now, number, timeouts[next(5)] * MILLISECOND,
                    now - (int64_t)next(3) * 100 * MILLISECOND);
  id = number;
}

static void world(void) {
  unsigned dice = next(12);
  if (dice == 0)
    session_disconnected(&session, now);
  else if (dice == 1)
    session_expired(&session, now);
  else if (dice == 2)
    session_refused(&session, now,
                    next(2) ? REASON_CREDENTIALS : REPLY_AUTH_REQUIRED);
  else if (dice == 3)
    session_attempting(&session, now);
  else
    connect_anew();
}

static void step(void) {
  static const int64_t spans[] = {0, 1, 10, 100, 300, 2000};
  unsigned dice = next(16);
  if (dice < 3)
    act();
  else if (dice < 5)
    answer_one();
  else if (dice < 10)
    answer_well();
  else if (dice == 10)
    tell();
  else if (dice > 11)
    now += spans[next(6)] * MILLISECOND;
  else if (!next(3))
    world();
  if (!session_is_connected(&session) && !next(3)) connect_anew();
  if (next(3)) session_run(&session, now);
}

static void hear_session(void *self, enum session_state state) {
  (void)self;
  if (state == SESSION_EXPIRED) id = 0;
}

static void hear_trouble(void *self, const char *message, const char *path,
                         int rc) {
  (void)self;
  assert(message && path && rc != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct transport transport = {NULL, submit, open};
  struct listener listener = {NULL, hear_session, hear_trouble};
  struct session_options options = {.chroot = ""};
  input = (struct input){data, data + size};
  memset(users, 0, sizeof users);
  first = last = 0;
  now = 1000 * MILLISECOND;
  id = 0;
  session_init(&session, &options, &transport, &listener, now);
  session_open(&session, now);
  connect_anew();
  for (int i = 0; i < STEPS && input.at < input.end; i++) step();
  session_close(&session, now);
  session_run(&session, now);
  session_free(&session);
  for (int i = 0; i < USERS; i++) assert(!users[i].contender);
  return 0;
}
