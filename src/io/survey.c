/*   look at the directories → list them → look at the contenders → read data
 *
 * A session's requests are answered in order, and each phase is a round trip or
 * more; what can be done without: a list of a directory that is not there,
 * a read of data that are empty. */
#include "survey.h"

#include <stdlib.h>
#include <string.h>

enum { AT_PATH, AT_LOCKS, AT_PERMITS, AT_HOLDER };

static op_handler on_looked, on_listed, on_known, on_read;

/* (What a server says is not ours to assert anything about.) */
static int at_least_none(int n) { return n > 0 ? n : 0; }

/* Servers since 3.8.4 and 3.9.2 refuse a look at a node that may not be read, which
 * is there then: its ACL is looked at last. */
static bool is_hidden(const struct reply *reply) {
  return reply->rc == REPLY_NO_AUTH;
}

static void learn(struct item *item, const struct reply *reply) {
  item->there = true;
  item->hidden = is_hidden(reply);
  if (item->hidden) return;
  item->czxid = reply->czxid;
  item->owner = reply->owner;
  item->ctime_ms = reply->ctime_ms;
}

static void learn_size(struct item *item, const struct reply *reply) {
  learn(item, reply);
  item->size = at_least_none(reply->length);
}

/* The directories, and the one node of an unfair lock. */

static int count_places(const struct query *query) {
  (void)query;
  return PLACES;
}

static void look(struct query *query, int i) {
  static const char *const parts[] = {"", LOCKS, PERMITS, ("/" NAME_UNFAIR)};
  struct place *place = &query->places[i];
  if (i == 0) query_sync(query, query->path);
  place->path = query_join(query->path, parts[i], "");
  query_send(query, &place->request, OP_PING, on_looked, place->path);
}

static int note_holder(struct query *query, const struct reply *reply) {
  struct item *item = query_add(query, query->path, NAME_UNFAIR);
  if (!item) return REASON_NO_MEMORY;
  learn_size(item, reply);
  return REPLY_OK;
}

static void on_looked(struct op *op, const struct reply *reply) {
  struct request *request = op->owner;
  struct query *query = request->query;
  int rc = reply->rc, i = 0;
  while (op != &query->places[i].request.op) i++;
  if (i == AT_PATH) query->missing = rc == REPLY_NO_NODE;
  if (i == AT_HOLDER && (rc == REPLY_OK || is_hidden(reply))) {
    rc = note_holder(query, reply);
  } else if (rc == REPLY_OK) {
    query->places[i].is_there = true;
    query->places[i].children = at_least_none(reply->children);
    if (reply->children > SURVEY_CHILDREN) rc = REASON_CROWDED;
  }
  query_answered(request, rc);
}

/* Their lists. */

static int cost_of_list(const struct query *query, int i) {
  const struct place *place = &query->places[i];
  return place->is_there ? place->children * SURVEY_CHILD_BYTES : UNWANTED;
}

static void list(struct query *query, int i) {
  struct place *place = &query->places[i];
  query_send(query, &place->request, OP_LIST, on_listed, place->path);
}

/* Of a semaphore: permits are in one directory, the mutexes of its gate in the
 * other, and in neither is anything else of interest. */
static bool belongs(const struct query *query, const struct op *op,
                    enum role role) {
  if (op == &query->places[AT_PERMITS].request.op) return role == ROLE_PERMIT;
  if (op == &query->places[AT_LOCKS].request.op) return role == ROLE_LOCK;
  return role != ROLE_PERMIT && role != ROLE_HOLD;
}

static int note_entries(struct query *query, const struct op *op,
                        const struct listing *listing) {
  if (!listing) return REASON_NO_MEMORY;
  if (listing->count > SURVEY_CHILDREN) return REASON_CROWDED;
  for (int i = 0; i < listing->count; i++) {
    const struct entry *entry = &listing->entries[i];
    if (!belongs(query, op, entry->role)) continue;
    struct item *item = query_add(query, op->path, entry->name);
    if (!item) return REASON_NO_MEMORY;
    item->role = entry->role;
    item->sequence = entry->sequence;
  }
  return REPLY_OK;
}

static void on_listed(struct op *op, const struct reply *reply) {
  struct request *request = op->owner;
  int rc = reply->rc;
  if (rc == REPLY_OK) rc = note_entries(request->query, op, reply->listing);
  query_answered(request, rc);
}

/* The contenders. */

/* (That of an unfair lock is known.  A stranger's name may be long.) */
static int cost_of_stat(const struct query *query, int i) {
  const struct item *item = &query->items[i];
  return item->there ? UNWANTED : (int)strlen(item->path);
}

static void ask_stat(struct query *query, int i) {
  struct item *item = &query->items[i];
  item->request.item = item;
  query_send(query, &item->request, OP_PING, on_known, item->path);
}

static void on_known(struct op *op, const struct reply *reply) {
  struct request *request = op->owner;
  bool known = reply->rc == REPLY_OK || is_hidden(reply);
  if (known) learn_size(request->item, reply);
  query_answered(request, known ? REPLY_OK : reply->rc);
}

/* Their data. */

static bool fits(const struct query *query, int size) {
  int64_t all = query->kept + size;
  return size <= SURVEY_SMALL ? all <= SURVEY_ALL_SMALL
                              : size <= SURVEY_LARGE && all <= SURVEY_ALL_LARGE;
}

static int cost_of_read(const struct query *query, int i) {
  const struct item *item = &query->items[i];
  bool wanted = query->with_data && item->there && !item->hidden &&
                !item->data && item->size > 0 && fits(query, item->size);
  return wanted ? survey_cost(item->size) : UNWANTED;
}

static int cost_of_small(const struct query *query, int i) {
  bool small = query->items[i].size <= SURVEY_SMALL;
  return small ? cost_of_read(query, i) : UNWANTED;
}

static int cost_of_large(const struct query *query, int i) {
  bool large = query->items[i].size > SURVEY_SMALL;
  return large ? cost_of_read(query, i) : UNWANTED;
}

static void read_data(struct query *query, int i) {
  struct item *item = &query->items[i];
  item->request.item = item;
  query->kept += item->size;
  query_send(query, &item->request, OP_READ, on_read, item->path);
}

/* They may be others than those that its Stat spoke of. */
static int keep(struct query *query, struct item *item,
                const struct reply *reply) {
  int size = at_least_none(reply->size);
  learn(item, reply);
  item->size = size;
  if (size == 0 || !fits(query, size)) return REPLY_OK;
  item->data = malloc((size_t)size);
  if (!item->data) return REASON_NO_MEMORY;
  memcpy(item->data, reply->data, (size_t)size);
  query->kept += size;
  return REPLY_OK;
}

/* Who hides its data contends nonetheless. */
static void on_read(struct op *op, const struct reply *reply) {
  struct request *request = op->owner;
  struct item *item = request->item;
  int rc = reply->rc;
  request->query->kept -= item->size;
  if (rc == REPLY_OK)
    rc = keep(request->query, item, reply);
  else if (rc == REPLY_NO_NODE)
    item->there = false;
  else if (rc == REPLY_NO_AUTH)
    rc = REPLY_OK;
  query_answered(request, rc);
}

/* The head. */

static op_handler on_head_listed, on_head_known;

static void list_for_head(struct query *query, int i) {
  struct place *place = &query->places[i];
  query_send(query, &place->request, OP_LIST, on_head_listed, place->path);
}

static int note_role(struct query *query, const struct listing *listing) {
  if (!listing) return REASON_NO_MEMORY;
  if (listing->count > SURVEY_CHILDREN) return REASON_CROWDED;
  query->contenders = listing->count;
  for (int i = 0; i < listing->count; i++) {
    const struct entry *entry = &listing->entries[i];
    if (entry->role != query->role) continue;
    struct item *item = query_add(query, query->path, entry->name);
    if (!item) return REASON_NO_MEMORY;
    item->role = entry->role;
    item->sequence = entry->sequence;
    if (listing_disorder(listing, entry)) query->next = UNWANTED;
  }
  return REPLY_OK;
}

static void on_head_listed(struct op *op, const struct reply *reply) {
  struct request *request = op->owner;
  int rc = reply->rc;
  if (rc == REPLY_OK) rc = note_role(request->query, reply->listing);
  query_answered(request, rc);
}

static int count_head(const struct query *query) {
  return query->next != UNWANTED && query->count > 0;
}

static void ask_head(struct query *query, int i) {
  query_send(query, &query->places[i].request, OP_PING, on_head_known,
             query->items[0].path);
}

/* Who has gone, or is of nobody, does not lead: the next one, then.  (A node that
 * may not be looked at is taken for a session's.) */
static void on_head_known(struct op *op, const struct reply *reply) {
  struct request *request = op->owner;
  struct query *query = request->query;
  struct item *item = &query->items[query->next];
  int rc = is_hidden(reply) ? REPLY_OK : reply->rc;
  if (is_hidden(reply) || (reply->rc == REPLY_OK && reply->owner != 0)) {
    learn_size(item, reply);
  } else if ((reply->rc == REPLY_OK || reply->rc == REPLY_NO_NODE) &&
             query->next + 1 < query->count) {
    op->path = query->items[++query->next].path;
    query_follow(request, OP_PING, on_head_known);
    return;
  }
  query_answered(request, rc);
}

static int cost_in_disorder(const struct query *query, int i) {
  return query->next == UNWANTED ? cost_of_stat(query, i) : UNWANTED;
}

struct query *survey_of_head(const char *chroot, const char *path,
                             enum role role) {
  static const struct phase phases[] = {
      {query_count_one, query_cost_none, look},
      {query_count_one, cost_of_list, list_for_head},
      {count_head, query_cost_none, ask_head},
      {query_count_items, cost_in_disorder, ask_stat},
      {query_count_items, cost_of_small, read_data},
      {query_count_items, cost_of_large, read_data},
      {.count = NULL},
  };
  struct query *query = query_new(QUERY_HEAD, phases, chroot, path);
  if (!query) return NULL;
  query->role = role;
  query->with_data = true;
  return query;
}

struct query *survey_new(const char *chroot, const char *path, bool with_data) {
  static const struct phase phases[] = {
      {count_places, query_cost_none, look},
      {count_places, cost_of_list, list},
      {query_count_items, cost_of_stat, ask_stat},
      {query_count_items, cost_of_small, read_data},
      {query_count_items, cost_of_large, read_data},
      {.count = NULL},
  };
  struct query *query = query_new(QUERY_CONTENDERS, phases, chroot, path);
  if (query) query->with_data = with_data;
  return query;
}
