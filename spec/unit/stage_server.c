/* ZooKeeper, as far as the story makes it speak. */
#include <stdarg.h>

#include "stage_inside.h"

enum { OTHER_SESSION = 99 };

/* Words. */

static const struct {
  const char *suffix, *marker, *word;
} spellings[] = {
    {"", "-lock-", "lock"},      {"r", "-__READ__", "read"},
    {"w", "-__WRIT__", "write"}, {"p", "-lease-", "permit"},
    {"m", "-member-", "member"}, {"h", "-hold-", "hold"},
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

/* A path; of what is directly below "/lock" the name alone. */
static const char *short_of(const char *path) {
  bool below = strncmp(path, "/lock/", 6) == 0 && !strchr(path + 6, '/');
  return below ? path + 6 : path;
}

/* The number at the end of a contender's name; else its path. */
static const char *number_in(const char *path) {
  int32_t sequence;
  if (strcmp(name_in(path), NAME_UNFAIR) == 0) return NAME_UNFAIR;
  if (name_parse(path, &sequence) == ROLE_FOREIGN) return short_of(path);
  const char *number = path + strlen(path) - 10;
  while (*number == '0' && number[1] != '\0') number++;
  return number;
}

/* (Other nodes are asked about by the same kind of request.) */
static bool is_nudge(const struct request *r) {
  return r->kind == OP_PING && strcmp(r->path, "/") == 0;
}

static const char *describe(struct stage *s, const struct request *r) {
  static const char *const verbs[] = {
      [OP_CREATE] = "create",      [OP_MKDIR] = "mkdir",
      [OP_LIST] = "list",          [OP_GET] = "get",
      [OP_EXISTS] = "exists",      [OP_REMOVE] = "remove",
      [OP_READ] = "look at",       [OP_UNWATCH] = "unwatch",
      [OP_CHECK_ACL] = "rehearse", [OP_PING] = "ask about",
      [OP_NAMES] = "list all of"};
  /* Only who downgrades says the number. */
  bool numbered = r->exact && strcmp(name_in(r->path), NAME_UNFAIR) != 0;
  if (is_nudge(r)) return "ping";
  if (r->with) {
    snprintf(s->text, sizeof s->text, "remove %s with create %s",
             number_in(r->with_path), word_of(r->path));
    return s->text;
  }
  if (r->beside) {
    snprintf(s->text, sizeof s->text, "%s %s with %s", verbs[r->kind],
             name_in(r->beside),
             r->kind == OP_CREATE ? word_of(r->path) : number_in(r->path));
    return s->text;
  }
  switch (r->kind) {
    case OP_HEARTBEAT:
      return "heartbeat";
    case OP_LIST:
      return r->watch ? "list and watch" : "list";
    case OP_CREATE:
      snprintf(s->text, sizeof s->text, numbered ? "create %s %s" : "create %s",
               word_of(r->path), number_in(r->path));
      break;
    case OP_MKDIR:
    case OP_CHECK_ACL:
      snprintf(s->text, sizeof s->text, "%s %s%s", verbs[r->kind],
               short_of(r->path), r->persistent && r->shared ? " for all" : "");
      break;
    case OP_REMOVE:
      snprintf(s->text, sizeof s->text,
               r->counted ? "remove %s of %d" : "remove %s", number_in(r->path),
               r->creates);
      break;
    default:
      snprintf(s->text, sizeof s->text, "%s %s", verbs[r->kind],
               r->kind == OP_UNWATCH && r->watch ? "children"
                                                 : number_in(r->path));
  }
  return s->text;
}

/* Sending. */

static char *path_beside(const struct op *op) {
  char path[1200];
  snprintf(path, sizeof path, "%.*s%s", (int)(name_in(op->path) - op->path),
           op->path, op->beside);
  return strdup(path);
}

bool server_submit(void *self, const struct op *op, const struct op *before) {
  struct stage *s = self;
  struct request *r = calloc(1, sizeof *r);
  r->serial = op->serial;
  r->kind = op->kind;
  r->watch = op->watch;
  r->exact = op->exact;
  r->persistent = op->persistent;
  r->shared = op->shared;
  r->path = strdup(op->path);
  r->counted = op->counted;
  r->creates = op->creates;
  if (op->beside) r->beside = path_beside(op);
  if (before) {
    r->with = before->serial;
    r->with_path = strdup(before->path);
  }
  r->seen = (r->kind == OP_HEARTBEAT || is_nudge(r)) && !s->by_hand;
  if (s->last)
    s->last->next = r;
  else
    s->first = r;
  s->last = r;
  if (!s->oldest) s->oldest = r;
  return true;
}

const char *sent(struct stage *s) {
  s->said[0] = '\0';
  for (struct request *r = s->first; r; r = r->next) {
    if (!r->seen) add_text(s->said, describe(s, r));
    r->seen = true;
  }
  return s->said;
}

const char *oldest(struct stage *s) {
  return s->oldest ? describe(s, s->oldest) : "";
}

/* Answering. */

static void reply_to_oldest(struct stage *s, const struct reply *reply) {
  const struct request *r = s->oldest;
  if (!r) test_fail("nothing was asked");
  s->oldest = r->next;
  session_reply(&s->session, s->now, r->serial, reply);
}

bool server_owes_heartbeat(const struct stage *s) {
  return !s->by_hand && s->oldest &&
         (s->oldest->kind == OP_HEARTBEAT || is_nudge(s->oldest));
}

void server_answers_heartbeat(struct stage *s) {
  static const struct reply ok = {.rc = REPLY_OK};
  reply_to_oldest(s, &ok);
}

void server_is_gone(struct stage *s) {
  for (struct request *r = s->oldest; r; r = r->next) r->seen = true;
  s->oldest = NULL;
}

void server_free(struct stage *s) {
  for (struct request *r = s->first, *next; r; r = next) {
    next = r->next;
    free(r->path);
    free(r->with_path);
    free(r->beside);
    free(r);
  }
  for (struct own_node *n = s->nodes, *next; n; n = next) {
    next = n->next;
    free(n);
  }
}

void heartbeats_by_hand(struct stage *s, bool by_hand) {
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

static struct own_node *add_node(struct stage *s, const char *path,
                                 int number) {
  struct own_node *n = calloc(1, sizeof *n + strlen(path) + 11);
  sprintf(n->path, "%s", path);
  n->session = s->id;
  n->czxid = INT64_C(1000) + number;
  n->next = s->nodes;
  return s->nodes = n;
}

static struct own_node *make(struct stage *s, int number) {
  const struct request *r = oldest_of(s, OP_CREATE);
  if (r->beside) add_node(s, r->beside, number);
  struct own_node *n = add_node(s, r->path, number);
  if (!r->exact) sprintf(n->path + strlen(n->path), "%010d", number);
  return n;
}

static void made(struct stage *s, int number) {
  static const struct reply removed = {.rc = REPLY_OK};
  const struct own_node *n = make(s, number);
  uint64_t with = s->oldest->with;
  bool bare = with || s->oldest->beside;
  const struct reply reply = {.path = n->path,
                              .czxid = bare ? 0 : n->czxid,
                              .owner = bare ? 0 : n->session};
  if (with) session_reply(&s->session, s->now, with, &removed);
  answer(s, &reply);
}

void made_unheard(struct stage *s, int number) { make(s, number); }

static bool is_in(const char *path, const char *directory) {
  size_t length = strlen(directory);
  return strncmp(path, directory, length) == 0 && path[length] == '/' &&
         !strchr(path + length + 1, '/');
}

/* "7", "7r", "/other:7r", "ready", "/gate": its path, to be freed. */
static char *path_of(const struct stage *s, const char *text) {
  char directory[1100], *path = calloc(1, 1200);
  const char *colon = strchr(text, ':');
  if (*text == '/' && !colon) return strcpy(path, text);
  snprintf(directory, sizeof directory, "%.*s", colon ? (int)(colon - text) : 5,
           colon ? text : "/lock");
  if (colon) text = colon + 1;
  if (!strchr("-0123456789", *text)) {
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
  sprintf(path, "%s/_c_00000000-0000-4000-8000-000000000000%s%010d", directory,
          spellings[spelling].marker, number);
  return path;
}

/* The names in the list's directory of those in `children`: what a list tells.
 * Ten more have been made there. */
static struct listing *listing_of(const struct stage *s, const char *children,
                                  const struct request *r) {
  const char *directory = r->path;
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
  struct listing *listing = r->kind == OP_NAMES
                                ? listing_new_of_all(names, count)
                                : listing_new(names, count);
  if (listing) listing->creates = 10 + count;
  while (count > 0) free(paths[--count]);
  return listing;
}

static void show(struct stage *s, enum op_kind to, const char *children) {
  struct listing *listing = listing_of(s, children, oldest_of(s, to));
  const struct reply reply = {.listing = listing};
  reply_to_oldest(s, &reply);
  listing_free(listing);
  settle(s);
}

enum { FORGED_ID = 1000 };

void next_is_as_forged(struct stage *s) { s->session.all.next_id = FORGED_ID; }

void shows_forged(struct stage *s, const char *own, int forged) {
  char *path = path_of(s, own);
  char(*names)[NAME_MAX_OWN] = calloc((size_t)forged + 1, sizeof *names);
  const char **pointers = calloc((size_t)forged + 1, sizeof *pointers);
  for (int i = 0; i < forged; i++) {
    pointers[i] = names[i];
    name_format(names[i], sizeof names[i], &s->session.pipeline.base,
                FORGED_ID + (uint64_t)i, ROLE_LOCK);
    sprintf(names[i] + strlen(names[i]), "%010d", i);
  }
  pointers[forged] = name_in(path);
  oldest_of(s, OP_LIST);
  const struct reply reply = {.listing = listing_new(pointers, forged + 1)};
  reply_to_oldest(s, &reply);
  listing_free(reply.listing);
  settle(s);
  free(pointers);
  free(names);
  free(path);
}

static void expect_oldest(struct stage *s, const char *request) {
  if (!s->oldest) test_fail("nothing was asked, not even '%s'", request);
  const char *text = describe(s, s->oldest);
  if (strcmp(text, request) != 0)
    test_fail("the oldest request is '%s', not '%s'", text, request);
  s->oldest->seen = true;
}

/* To a get, or what makes one: whose the node is. */
static void show_node(struct stage *s, int64_t czxid, int64_t owner) {
  const struct reply reply = {.czxid = czxid,
                              .owner = owner,
                              .revoked = s->revoked};
  answer(s, &reply);
}

static void fail(struct stage *s, int rc) {
  const struct reply reply = {.rc = rc};
  answer(s, &reply);
}

/* Whatever goes without saying. */
static void confirm(struct stage *s) {
  const struct own_node *n = find_node(s, s->oldest->path);
  switch (s->oldest->kind) {
    case OP_GET:
    case OP_EXISTS:
    case OP_PING:
      if (n)
        show_node(s, n->czxid, n->session);
      else
        show_node(s, 1000 + atoi(number_in(s->oldest->path)),
                  s->forges ? s->id : OTHER_SESSION);
      break;
    case OP_CREATE:
    case OP_LIST:
      test_fail("'%s' wants an answer of its own", describe(s, s->oldest));
    default:
      fail(s, REPLY_OK);
  }
}

void asks_to_let_go(struct stage *s) { s->revoked = true; }
void forged_are_ours(struct stage *s) { s->forges = true; }

/* Events. */

static void event(struct stage *s, enum watch_event event, const char *node) {
  char *path = path_of(s, node);
  session_event(&s->session, s->now, event, path);
  free(path);
  settle(s);
}

/* All that happens, from a script. */

static void respond(struct stage *s, const char *request, const char *reply) {
  static const struct {
    const char *text;
    int rc;
  } codes[] = {{"ok", REPLY_OK},
               {"no node", REPLY_NO_NODE},
               {"no auth", REPLY_NO_AUTH},
               {"exists", REPLY_NODE_EXISTS},
               {"not empty", REPLY_NOT_EMPTY},
               {"throttled", THROTTLED}};
  int number;
  expect_oldest(s, request);
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (strcmp(reply, codes[i].text) == 0) {
      fail(s, codes[i].rc);
      return;
    }
  if (!*reply)
    confirm(s);
  else if (sscanf(reply, "code %d", &number) == 1)
    fail(s, number);
  else if (strcmp(reply, "nobody's") == 0)
    show_node(s, 1, 0);
  else if (sscanf(reply, "ours %d", &number) == 1)
    show_node(s, number, s->id);
  else if (sscanf(reply, "theirs %d", &number) == 1)
    show_node(s, number, OTHER_SESSION);
  else if (s->oldest->kind == OP_CREATE)
    made(s, atoi(reply));
  else
    show(s, s->oldest->kind, strcmp(reply, "nobody") == 0 ? "" : reply);
}

/* An entry of a script that is no answer. */
static bool is_event(struct stage *s, const char *text) {
  static const struct {
    const char *verb;
    enum watch_event event;
  } events[] = {{"deleted ", WATCH_DELETED},
                {"changed ", WATCH_CHANGED},
                {"children ", WATCH_CHILDREN}};
  static const struct {
    const char *text;
    void (*act)(struct stage *s);
  } turns[] = {{"disconnects", disconnects},
               {"reconnects", reconnects},
               {"connects", connects},
               {"connects anew", connects_anew},
               {"expires", expires}};
  int milliseconds, length = 0;
  if (sscanf(text, "%d ms%n", &milliseconds, &length) == 1 && length > 0)
    return passes(s, milliseconds), true;
  for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
    length = (int)strlen(events[i].verb);
    if (strncmp(text, events[i].verb, (size_t)length) == 0)
      return event(s, events[i].event, text + length), true;
  }
  for (size_t i = 0; i < sizeof turns / sizeof *turns; i++)
    if (strcmp(text, turns[i].text) == 0) return turns[i].act(s), true;
  return false;
}

static void happen(struct stage *s, char *text) {
  char *colon = strstr(text, ": ");
  if (is_event(s, text)) return;
  if (colon) *colon = '\0';
  respond(s, text, colon ? colon + 2 : "");
}

void stage_happens(struct stage *s, const char *format, ...) {
  char script[8000], *next = script;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(script, sizeof script, format, arguments);
  va_end(arguments);
  while (next && *next) {
    char *text = next, *comma = strstr(next, ", ");
    if (comma) *comma = '\0';
    next = comma ? comma + 2 : NULL;
    happen(s, text);
  }
}

void stage_hears(struct actor *a, const char *script, const char *text) {
  stage_happens(a->stage, "%s", script);
  test_compare_text("what it hears", text, heard(a));
}

void stage_sends(struct stage *s, const char *script, const char *text) {
  stage_happens(s, "%s", script);
  test_compare_text("what is sent", text, sent(s));
}
