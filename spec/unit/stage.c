#include "stage.h"

#include <stdio.h>

#include "memory.h"
#include "protocol/session.h"

#define MILLISECOND INT64_C(1000000)

enum { REQUESTS = 8000, ACTORS = 2100, TEXT = 2000, OTHER_SESSION = 99 };

struct request {
  struct request *next;
  uint64_t serial;
  enum op_kind kind;
  bool watch, exact, persistent, round;
  bool seen, mentioned;
  char *path;
};

struct own_node {
  struct own_node *next;
  int64_t session, czxid;
  char path[];
};

struct actor {
  struct stage *stage;
  struct actor *next;
  struct contender *contender, *gate; /* NULL: forgotten */
  char told[TEXT], rival[200];
  char *data;
  int reason, bytes;
  int64_t token;
};

struct stage {
  struct session session;
  int64_t now, id, timeout, started;
  struct request *first, *last; /* all that were sent */
  struct request *oldest;       /* that is not answered */
  struct own_node *nodes;       /* of ours */
  struct actor *actors;
  bool by_hand, in_batch, cannot_send, wanted, revoked, closed;
  const char *others;
  char shown[TEXT], text[TEXT], said[TEXT];
};

/* Words. */

static void add_text(char *text, const char *more) {
  size_t length = strlen(text);
  snprintf(text + length, TEXT - length, "%s%s", length > 0 ? ", " : "", more);
}

static const char *take_text(struct stage *s, char *text) {
  snprintf(s->said, sizeof s->said, "%s", text);
  text[0] = '\0';
  return s->said;
}

static const struct {
  const char *suffix, *marker, *word;
} spellings[] = {
    {"", "-lock-", "lock"},
    {"r", "-__READ__", "read"},
    {"w", "-__WRIT__", "write"},
    {"p", "-lease-", "permit"},
    {"k", "__lock__", "lock of kazoo"},
    {"kr", "__rlock__", "read of kazoo"},
};

enum { SPELLINGS = sizeof spellings / sizeof *spellings };

static const char *name_in(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* What a create's path says. */
static const char *word_of(const char *path) {
  for (int i = 0; i < SPELLINGS; i++)
    if (strstr(name_in(path), spellings[i].marker)) return spellings[i].word;
  return name_in(path);
}

/* The number at the end of a contender's name; else a name that is its own, or
 * a directory's path. */
static const char *number_in(const char *path) {
  int32_t sequence;
  if (strcmp(name_in(path), NAME_UNFAIR) == 0) return name_in(path);
  if (name_parse(path, &sequence) == ROLE_FOREIGN) return path;
  const char *number = path + strlen(path) - 10;
  while (*number == '0' && number[1] != '\0') number++;
  return number;
}

static const char *describe(struct stage *s, const struct request *r) {
  static const char *const verbs[] = {
      [OP_CREATE] = "create", [OP_MKDIR] = "mkdir",    [OP_LIST] = "list",
      [OP_GET] = "get",       [OP_EXISTS] = "exists",  [OP_REMOVE] = "remove",
      [OP_READ] = "look at",  [OP_UNWATCH] = "unwatch"};
  switch (r->kind) {
    case OP_HEARTBEAT:
      return "round";
    case OP_PING:
      return "ping";
    case OP_LIST:
      return r->watch ? "list and watch" : "list";
    case OP_CREATE:
      snprintf(s->text, sizeof s->text, "create %s%s%s", word_of(r->path),
               r->exact && strcmp(name_in(r->path), NAME_UNFAIR) ? " " : "",
               r->exact && strcmp(name_in(r->path), NAME_UNFAIR)
                   ? number_in(r->path)
                   : "");
      break;
    case OP_MKDIR:
    case OP_READ:
      snprintf(s->text, sizeof s->text, "%s %s%s", verbs[r->kind], r->path,
               r->persistent ? " for good" : "");
      break;
    default:
      snprintf(s->text, sizeof s->text, "%s %s", verbs[r->kind],
               r->kind == OP_UNWATCH && r->watch ? "children"
                                                 : number_in(r->path));
  }
  return s->text;
}

/* Hearing. */

static const char *const verdicts[] = {
    [VERDICT_TIMEOUT] = "timeout",     [VERDICT_BUSY] = "busy",
    [VERDICT_CANCELLED] = "cancelled", [VERDICT_LOST] = "lost",
    [VERDICT_EXPIRED] = "expired",     [VERDICT_DISCONNECTED] = "disconnected",
    [VERDICT_CLOSED] = "closed",       [VERDICT_AUTH] = "auth",
    [VERDICT_INVALID] = "invalid",
};

static void note_refusal(struct actor *a) {
  const struct rival *rival = &a->contender->rival;
  char text[40];
  snprintf(text, sizeof text, "refused: %s", verdicts[a->contender->verdict]);
  add_text(a->told, text);
  a->reason = a->contender->reason;
  a->bytes = contender_bytes(a->contender);
  if (rival->size > 0)
    snprintf(a->rival, sizeof a->rival, "%.*s%s", rival->size,
             (const char *)rival->data, rival->holds ? ", who holds" : "");
}

static void note_loss(struct actor *a) {
  const char *loss = contender_loss_name(a->contender->loss);
  char text[40];
  snprintf(text, sizeof text, "lost: %s",
           loss ? loss : verdicts[a->contender->verdict]);
  add_text(a->told, text);
}

static void forget(struct actor *a) {
  free(a->contender);
  free(a->gate);
  a->contender = a->gate = NULL;
  add_text(a->told, "forgotten");
}

static void hear_contender(struct contender *c, enum news news) {
  struct actor *a = c->owner;
  switch (news) {
    case NEWS_GRANTED:
      a->token = contender_token(c);
      add_text(a->told, "granted");
      break;
    case NEWS_REFUSED:
      note_refusal(a);
      break;
    case NEWS_LOST:
      note_loss(a);
      break;
    case NEWS_REVOKED:
      add_text(a->told, "revoked");
      break;
    case NEWS_REMOVED:
      add_text(a->told, "removed");
      break;
    case NEWS_FORGOTTEN:
      forget(a);
  }
}

static void hear_session(void *self, enum session_state state) {
  struct stage *s = self;
  add_text(s->shown, session_state_name(state));
}

static void hear_trouble(void *self, const char *message, const char *path,
                         int rc) {
  (void)self; /* (what it is to a contender comes with its refusal) */
  (void)message;
  (void)path;
  (void)rc;
}

const char *heard(struct actor *a) { return take_text(a->stage, a->told); }
const char *shown(struct stage *s) { return take_text(s, s->shown); }

const char *state_of(const struct actor *a) {
  return a->contender ? contender_state_name(a->contender->state) : "forgotten";
}

int64_t token_of(const struct actor *a) { return a->token; }
int reason_of(const struct actor *a) { return a->reason; }
int bytes_of(const struct actor *a) { return a->bytes; }
const char *rival_of(const struct actor *a) {
  return a->rival[0] ? a->rival : "nobody";
}

int counted(const struct stage *s, const char *counter) {
#define X(name) \
  if (strcmp(counter, #name) == 0) return (int)s->session.counters.name;
  SESSION_COUNTERS(X)
#undef X
  test_fail("there is no counter %s", counter);
}

/* Sending. */

static bool submit(void *self, const struct op *op) {
  struct stage *s = self;
  if (s->cannot_send) return false;
  struct request *r = calloc(1, sizeof *r);
  r->serial = op->serial;
  r->kind = op->kind;
  r->watch = op->watch;
  r->exact = op->exact;
  r->persistent = op->persistent;
  r->path = strdup(op->path);
  r->seen = (r->kind == OP_HEARTBEAT || r->kind == OP_PING) && !s->by_hand;
  if (s->last)
    s->last->next = r;
  else
    s->first = r;
  s->last = r;
  if (!s->oldest) s->oldest = r;
  return true;
}

static void open_session(void *self) {
  struct stage *s = self;
  s->wanted = true;
}

const char *sent(struct stage *s) {
  s->said[0] = '\0';
  for (struct request *r = s->first; r; r = r->next) {
    if (!r->seen) add_text(s->said, describe(s, r));
    r->seen = true;
  }
  return s->said;
}

void cannot_send(struct stage *s, bool cannot) { s->cannot_send = cannot; }

/* Answering. */

static void reply_to_oldest(struct stage *s, const struct reply *reply) {
  const struct request *r = s->oldest;
  if (!r) test_fail("nothing was asked");
  s->oldest = r->next;
  session_reply(&s->session, s->now, r->serial, reply);
}

static bool goes_by_itself(const struct stage *s) {
  return !s->by_hand && s->oldest &&
         (s->oldest->kind == OP_HEARTBEAT || s->oldest->kind == OP_PING);
}

/* The end of a batch, if it is one. */
static void settle(struct stage *s) {
  static const struct reply no_node = {.rc = REPLY_NO_NODE};
  if (s->in_batch) return;
  session_run(&s->session, s->now);
  while (goes_by_itself(s)) {
    reply_to_oldest(s, &no_node);
    session_run(&s->session, s->now);
  }
}

void rounds_by_hand(struct stage *s, bool by_hand) {
  s->by_hand = by_hand;
  settle(s);
}

static void answer(struct stage *s, const struct reply *reply) {
  reply_to_oldest(s, reply);
  settle(s);
}

static struct request *oldest_of(struct stage *s, enum op_kind kind) {
  if (!s->oldest) test_fail("nothing was asked");
  if (s->oldest->kind != kind)
    test_fail("the oldest request is '%s'", describe(s, s->oldest));
  s->oldest->seen = true;
  return s->oldest;
}

static struct own_node *find_node(const struct stage *s, const char *path) {
  struct own_node *n = s->nodes;
  while (n && strcmp(n->path, path) != 0) n = n->next;
  return n;
}

static struct own_node *make(struct stage *s, int number) {
  const struct request *r = oldest_of(s, OP_CREATE);
  struct own_node *n = calloc(1, sizeof *n + strlen(r->path) + 11);
  sprintf(n->path, "%s", r->path);
  if (!r->exact) sprintf(n->path + strlen(n->path), "%010d", number);
  n->session = s->id;
  n->czxid = INT64_C(1000) + number;
  n->next = s->nodes;
  s->nodes = n;
  return n;
}

void stage_made(struct stage *s, int number) {
  const struct own_node *n = make(s, number);
  const struct reply reply = {.path = n->path,
                              .czxid = n->czxid,
                              .owner = n->session};
  answer(s, &reply);
}

void made_unheard(struct stage *s, int number) { make(s, number); }

static bool is_in(const char *path, const char *directory) {
  size_t length = strlen(directory);
  return strncmp(path, directory, length) == 0 && path[length] == '/' &&
         !strchr(path + length + 1, '/');
}

/* "7", "7r", "locks:7", "/other:7r": its path, to be freed. */
static char *path_of(const struct stage *s, const char *text) {
  char directory[1100], *path = calloc(1, 1200);
  const char *colon = strchr(text, ':');
  snprintf(directory, sizeof directory, "%s", "/lock");
  if (colon)
    snprintf(directory, sizeof directory, "%s%.*s",
             *text == '/' ? "" : "/lock/", (int)(colon - text), text);
  if (colon) text = colon + 1;
  if (strcmp(text, NAME_UNFAIR) == 0) {
    sprintf(path, "%s/%s", directory, text);
    return path;
  }
  int number = atoi(text);
  const char *suffix = text + strspn(text, "-0123456789");
  int spelling = SPELLINGS;
  while (--spelling > 0 && strcmp(suffix, spellings[spelling].suffix) != 0)
    continue;
  for (const struct own_node *n = s->nodes; n; n = n->next)
    if (is_in(n->path, directory) && atoi(number_in(n->path)) == number &&
        (!*suffix || strstr(n->path, spellings[spelling].marker)))
      return strcpy(path, n->path);
  sprintf(path, "%s/%s00000000-0000-4000-8000-000000000000%s%010d", directory,
          *suffix == 'k' ? "" : "_c_", spellings[spelling].marker, number);
  return path;
}

/* The names in the list's directory of those in `children`. */
static struct listing *listing_of(const struct stage *s, const char *directory,
                                  const char *children) {
  char *paths[2100], text[40];
  const char *names[2100];
  int count = 0, length;
  for (; sscanf(children, " %30s%n", text, &length) == 1; children += length) {
    char full[1200];
    snprintf(full, sizeof full, "%s:%s", directory, text);
    paths[count] = path_of(s, full);
    names[count] = name_in(paths[count]);
    count++;
  }
  struct listing *listing = listing_new(names, count);
  while (count > 0) free(paths[--count]);
  return listing;
}

static void show(struct stage *s, const char *children, int refused) {
  const struct request *r = oldest_of(s, OP_LIST);
  struct listing *listing = listing_of(s, r->path, children);
  const struct reply reply = {.listing = listing};
  memory_refuse(refused);
  reply_to_oldest(s, &reply);
  memory_refuse(0);
  listing_free(listing);
  settle(s);
}

void stage_shows(struct stage *s, const char *children) {
  show(s, children, 0);
}
void shows_then_no_memory(struct stage *s, const char *children) {
  show(s, children, 1);
}

void shows_without_memory(struct stage *s) {
  static const struct reply reply = {.listing = NULL};
  oldest_of(s, OP_LIST);
  answer(s, &reply);
}

static void expect_oldest(struct stage *s, const char *request) {
  if (!s->oldest) test_fail("nothing was asked, not even '%s'", request);
  const char *text = describe(s, s->oldest);
  if (strcmp(text, request) != 0)
    test_fail("the oldest request is '%s', not '%s'", text, request);
  s->oldest->seen = true;
}

static void confirm_get(struct stage *s) {
  const struct own_node *n = find_node(s, s->oldest->path);
  const char *data = n ? NULL : s->others;
  const struct reply reply = {.czxid = n ? n->czxid
                                         : INT64_C(1000) +
                                               atoi(number_in(s->oldest->path)),
                              .owner = n ? n->session : OTHER_SESSION,
                              .data = data,
                              .size = data ? (int)strlen(data) : 0,
                              .revoked = s->revoked};
  answer(s, &reply);
}

static void confirm(struct stage *s) {
  static const struct reply ok = {.rc = REPLY_OK},
                            no_node = {.rc = REPLY_NO_NODE};
  switch (s->oldest->kind) {
    case OP_GET:
    case OP_EXISTS:
      confirm_get(s);
      break;
    case OP_HEARTBEAT:
      answer(s, &no_node);
      break;
    case OP_READ: {
      const struct reply reply = {.size = s->others ? 1 : 0};
      answer(s, &reply);
      break;
    }
    case OP_CREATE:
    case OP_LIST:
      test_fail("'%s' wants an answer of its own", describe(s, s->oldest));
    default:
      answer(s, &ok);
  }
}

void stage_confirms(struct stage *s, const char *requests) {
  char request[1200];
  while (*requests) {
    size_t length = strcspn(requests, ",");
    snprintf(request, sizeof request, "%.*s", (int)length, requests);
    expect_oldest(s, request);
    confirm(s);
    requests += length;
    requests += strspn(requests, ", ");
  }
}

void stage_answers(struct stage *s, const char *request, int rc) {
  const struct reply reply = {.rc = rc};
  expect_oldest(s, request);
  answer(s, &reply);
}

void stage_reads(struct stage *s, const char *request, bool ours,
                 int64_t czxid) {
  const struct reply reply = {.czxid = czxid,
                              .owner = ours ? s->id : OTHER_SESSION,
                              .revoked = s->revoked};
  expect_oldest(s, request);
  answer(s, &reply);
}

void late_answer(struct stage *s, int nth, int rc) {
  const struct request *r = s->first;
  const struct reply reply = {.rc = rc};
  while (r && --nth > 0) r = r->next;
  if (r) session_reply(&s->session, s->now, r->serial, &reply);
  settle(s);
}

void asks_to_let_go(struct stage *s) { s->revoked = true; }
void others_say(struct stage *s, const char *data) { s->others = data; }

void answers_round(struct stage *s) {
  oldest_of(s, OP_HEARTBEAT);
  confirm(s);
}

/* Events. */

static void event(struct stage *s, enum watch_event event, const char *node) {
  char *path = path_of(s, node);
  session_event(&s->session, s->now, event, path);
  free(path);
  settle(s);
}

void deleted(struct stage *s, const char *node) {
  event(s, WATCH_DELETED, node);
}
void changed(struct stage *s, const char *node) {
  event(s, WATCH_CHANGED, node);
}
void children_changed(struct stage *s, const char *directory) {
  session_event(&s->session, s->now, WATCH_CHILDREN, directory);
  settle(s);
}

/* The connection. */

/* Nobody will answer what was asked. */
static void lose_requests(struct stage *s) {
  for (struct request *r = s->oldest; r; r = r->next) r->seen = true;
  s->oldest = NULL;
}

static void connect_as(struct stage *s, int64_t id, int64_t timeout,
                       int64_t started) {
  s->id = id;
  s->timeout = timeout;
  lose_requests(s);
  session_connected(&s->session, s->now, id, timeout, started);
  settle(s);
}

void connects(struct stage *s) { connect_as(s, s->id, s->timeout, s->now); }
void connects_with(struct stage *s, int timeout) {
  connect_as(s, s->id, timeout * MILLISECOND, s->now);
}
void connects_anew(struct stage *s) {
  connect_as(s, s->id + 1, s->timeout, s->now);
}
void connects_since(struct stage *s, int milliseconds) {
  connect_as(s, s->id, s->timeout, s->now - milliseconds * MILLISECOND);
}

void disconnects(struct stage *s) {
  lose_requests(s);
  session_disconnected(&s->session, s->now);
  settle(s);
}

void attempts(struct stage *s) {
  session_attempting(&s->session, s->now, s->now);
  settle(s);
}

void expires(struct stage *s) {
  lose_requests(s);
  session_expired(&s->session, s->now);
  settle(s);
}

void refuses_credentials(struct stage *s) {
  lose_requests(s);
  session_refused(&s->session, s->now);
  settle(s);
}

bool is_beyond_help(const struct stage *s) {
  return session_is_beyond_help(&s->session, s->now);
}

bool wants_session(struct stage *s) {
  bool wanted = s->wanted;
  s->wanted = false;
  return wanted;
}

/* The time. */

int64_t now_of(const struct stage *s) { return s->now; }

void passes(struct stage *s, int milliseconds) {
  int64_t until = s->now + milliseconds * MILLISECOND;
  while (s->now < until) {
    int64_t due = session_due(&s->session);
    s->now = due > s->now ? (due < until ? due : until) : s->now + MILLISECOND;
    settle(s);
  }
}

void stops_for(struct stage *s, int milliseconds) {
  s->now += milliseconds * MILLISECOND;
}

void together(struct stage *s) { s->in_batch = true; }
void apart(struct stage *s) {
  s->in_batch = false;
  settle(s);
}

int pace(struct stage *s) {
  int waited = 0;
  rounds_by_hand(s, true);
  for (int i = 0; i < 10; i++) {
    for (waited = 0; !*sent(s) && waited < 100000; waited++) passes(s, 1);
    answers_round(s);
  }
  return waited;
}

int lease_of(const struct stage *s) {
  return (int)((s->session.lease.until - s->now) / MILLISECOND);
}

int due_of(const struct stage *s) {
  int64_t due = session_due(&s->session);
  return due == NEVER ? -1 : (int)((due - s->now) / MILLISECOND);
}

/* The users. */

struct stage *begin(struct setting setting) {
  struct stage *s = calloc(1, sizeof *s);
  struct transport transport = {s, submit, open_session};
  struct listener listener = {s, hear_session, hear_trouble};
  struct session_options options = {.chroot =
                                        setting.chroot ? setting.chroot : "",
                                    .least_timeout =
                                        setting.least * MILLISECOND,
                                    .tick = setting.tick * MILLISECOND};
  memset(options.random, 0x5a, sizeof options.random);
  s->now = 1000 * 1000 * MILLISECOND;
  s->id = 1;
  s->timeout = (setting.timeout ? setting.timeout : 10000) * MILLISECOND;
  session_init(&s->session, &options, &transport, &listener, s->now);
  if (!setting.apart) connects(s);
  s->shown[0] = '\0';
  return s;
}

static void set_kind(struct contender_options *options, struct wish wish) {
  static const enum kind kinds[] = {[MUTEX] = KIND_MUTEX,
                                    [READER] = KIND_READ,
                                    [WRITER] = KIND_WRITE,
                                    [PERMIT] = KIND_PERMIT,
                                    [UNFAIR] = KIND_UNFAIR};
  options->kind = kinds[wish.lock];
  options->layout = wish.kazoo ? LAYOUT_KAZOO : LAYOUT_CURATOR;
  options->permits = wish.permits ? wish.permits : 1;
  options->strategy = wish.polls            ? WAIT_POLL
                      : wish.watches_parent ? WAIT_PARENT
                                            : WAIT_PREDECESSOR;
  options->poll_interval = wish.polls * MILLISECOND;
  options->handoffs = wish.handoffs;
  if (!wish.below) return;
  options->downgrade = true;
  options->writer_token = wish.below->token;
  strcpy(options->writer, wish.below->contender->name);
}

static void set_data(struct contender_options *options, struct actor *a,
                     struct wish wish) {
  int size = wish.data ? (int)strlen(wish.data) : wish.bytes;
  if (size == 0) return;
  a->data = calloc(1, (size_t)size + 1);
  if (wish.data) memcpy(a->data, wish.data, (size_t)size);
  options->data = a->data;
  options->size = size;
}

struct actor *acquire(struct stage *s, struct wish wish) {
  char path[1100];
  struct actor *a = calloc(1, sizeof *a);
  struct contender_options options = {
      .deadline = wish.within ? s->now + wish.within * MILLISECOND : NEVER,
      .max_hold = wish.max_hold ? wish.max_hold * MILLISECOND : NEVER,
      .patient = !wish.tries,
      .lose_on_suspend = wish.loses_soon};
  a->stage = s;
  a->next = s->actors;
  s->actors = a;
  set_kind(&options, wish);
  set_data(&options, a, wish);
  snprintf(path, sizeof path, "%s%s", wish.path ? wish.path : "/lock",
           wish.lock == PERMIT ? LEASES : "");
  a->contender = malloc(contender_size(strlen(path)));
  if (wish.lock == PERMIT) a->gate = malloc(contender_size(strlen(path)));
  contender_init(a->contender, &options, hear_contender, a);
  a->contender->gate = a->gate;
  if (!session_acquire(&s->session, s->now, a->contender, path))
    test_fail("no memory to acquire");
  settle(s);
  return a;
}

/* (Without CHECK: what fails is blamed on the story's line.) */
struct actor *holder(struct stage *s, struct wish wish, int number) {
  char own[20];
  struct actor *a = acquire(s, wish);
  stage_made(s, number);
  sprintf(own, "%d", number);
  if (wish.lock != UNFAIR) stage_shows(s, own);
  test_compare_text("heard", "granted", heard(a));
  test_compare_text("sent", "", sent(s));
  return a;
}

struct actor *waiter(struct stage *s, struct wish wish) {
  struct actor *a = acquire(s, wish);
  stage_made(s, 2);
  stage_shows(s, "1 2");
  stage_confirms(s, "get 2, get 1");
  test_compare_text("heard", "", heard(a));
  test_compare_text("state", "queued", state_of(a));
  test_compare_text("sent", "", sent(s));
  return a;
}

void release(struct actor *a) {
  if (a->contender)
    session_release(&a->stage->session, a->stage->now, a->contender);
  settle(a->stage);
}

void cancel(struct actor *a) {
  if (a->contender)
    session_cancel(&a->stage->session, a->stage->now, a->contender);
  settle(a->stage);
}

void sees_silence(struct actor *a) {
  struct session *session = &a->stage->session;
  session_fall_silent(session, a->stage->now);
  session_lose(session, a->stage->now, a->contender, LOSS_SILENCE);
  settle(a->stage);
}

void sees_deletion(struct actor *a) {
  struct stage *s = a->stage;
  session_lose(&s->session, s->now, a->contender, LOSS_DELETED);
  settle(s);
}

void wants_watch(struct actor *a) {
  session_watch(&a->stage->session, a->stage->now, a->contender);
  settle(a->stage);
}

void close_session(struct stage *s) {
  s->closed = true;
  lose_requests(s);
  session_close(&s->session, s->now);
}

static void free_all(struct stage *s) {
  for (struct actor *a = s->actors, *next; a; a = next) {
    next = a->next;
    free(a->data);
    free(a);
  }
  for (struct request *r = s->first, *next; r; r = next) {
    next = r->next;
    free(r->path);
    free(r);
  }
  for (struct own_node *n = s->nodes, *next; n; n = next) {
    next = n->next;
    free(n);
  }
  free(s);
}

void end(struct stage *s) {
  if (!s->closed) close_session(s);
  session_free(&s->session);
  for (const struct actor *a = s->actors; a; a = a->next)
    if (a->contender) test_fail("an actor was not forgotten");
  free_all(s);
}
