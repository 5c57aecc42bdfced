/* Who contends, or waits and contends for nothing, and what each hears. */
#include "stage_inside.h"

static const char *const verdicts[] = {
    [REFUSED_TIMEOUT] = "timeout",
    [REFUSED_BUSY] = "busy",
    [REFUSED_CANCELLED] = "cancelled",
    [REFUSED_LOST] = "lost",
    [REFUSED_DISCONNECTED] = "disconnected",
    [REFUSED_CLOSED] = "closed",
    [REFUSED_AUTH] = "auth",
    [REFUSED_DENIED] = "denied",
    [REFUSED_INVALID] = "invalid",
    [REFUSED_CONFLICT] = "conflict",
};

static void note_denial(struct actor *a, const struct denial *denial) {
  if (!denial->what) return;
  const struct contender *c = denial->by_gate ? a->gate : a->contender;
  snprintf(a->denial, sizeof a->denial, "%s %.*s", denial->what,
           (int)denial->length, directory_path(&c->queue->directory));
}

static void note_end(struct actor *a, const char *what, enum refusal_code why,
                     int reason) {
  char text[40];
  snprintf(text, sizeof text, "%s: %s", what, verdicts[why]);
  add_text(a->told, text);
  a->reason = reason;
}

static void note_refusal(struct actor *a) {
  note_end(a, "refused", a->contender->refusal_code, a->contender->reason);
  note_denial(a, &a->contender->denial);
}

static void note_loss(struct actor *a) {
  const char *loss = contender_loss_name(a->contender->loss);
  char text[40];
  snprintf(text, sizeof text, "lost: %s",
           loss ? loss : verdicts[a->contender->refusal_code]);
  add_text(a->told, text);
}

static void forget(struct actor *a) {
  free(a->contender);
  free(a->gate);
  a->contender = a->gate = NULL;
  add_text(a->told, "forgotten");
}

static void on_contender_news(struct contender *c, enum news news) {
  static const char *const words[] = {[NEWS_GRANTED] = "granted",
                                      [NEWS_REVOKED] = "revoked",
                                      [NEWS_UNDELETABLE] = "kept",
                                      [NEWS_REMOVED] = "removed"};
  struct actor *a = c->owner;
  if (news == NEWS_GRANTED) a->token = contender_token(c);
  if (news == NEWS_REFUSED)
    note_refusal(a);
  else if (news == NEWS_LOST)
    note_loss(a);
  else if (news == NEWS_FORGOTTEN)
    forget(a);
  else
    add_text(a->told, words[news]);
}

const char *heard(struct actor *a) {
  strcpy(a->stage->said, a->told);
  a->told[0] = '\0';
  return a->stage->said;
}

const char *state_of(const struct actor *a) {
  return a->contender ? contender_state_name(a->contender->state) : "forgotten";
}

int64_t token_of(const struct actor *a) { return a->token; }
int reason_of(const struct actor *a) { return a->reason; }
const char *denial_of(const struct actor *a) { return a->denial; }

/* The users. */

static void set_kind(struct contender_options *options, struct wish wish) {
  static const enum kind kinds[] = {
      [MUTEX] = KIND_MUTEX,   [READER] = KIND_READ,   [WRITER] = KIND_WRITE,
      [PERMIT] = KIND_PERMIT, [UNFAIR] = KIND_UNFAIR, [MEMBER] = KIND_MEMBER};
  options->kind = kinds[wish.lock];
  options->shares_path = wish.lock == PERMIT || wish.lock == UNFAIR;
  options->permits = wish.permits ? wish.permits : 1;
  options->strategy = wish.watches_parent ? WAIT_PARENT : WAIT_PREDECESSOR;
  if (!wish.below) return;
  options->downgrade = true;
  options->writer_token = wish.below->token;
  int32_t number;
  name_parse(wish.below->contender->node.name, &number);
  options->writer_number = number;
}

static struct actor *actor_new(struct stage *s) {
  struct actor *a = calloc(1, sizeof *a);
  a->stage = s;
  a->next = s->actors;
  return s->actors = a;
}

struct actor *acquire(struct stage *s, struct wish wish) {
  char path[1100];
  struct actor *a = actor_new(s);
  struct contender_options options = {
      .deadline = wish.within ? s->now + wish.within * MILLISECOND : NEVER,
      .max_hold = NEVER,
      .patient = !wish.tries};
  set_kind(&options, wish);
  snprintf(path, sizeof path, "%s%s", wish.path ? wish.path : "/lock",
           wish.lock == PERMIT ? PERMITS : "");
  a->contender = malloc(contender_size(strlen(path)));
  if (wish.lock == PERMIT) a->gate = malloc(contender_size(strlen(path)));
  contender_init(a->contender, &options, on_contender_news, a);
  a->contender->gate = a->gate;
  if (!session_acquire(&s->session, s->now, a->contender, path))
    test_fail("no memory to acquire");
  settle(s);
  return a;
}

/* (Without CHECK: what fails is blamed on the story's line.) */
struct actor *holder(struct stage *s, struct wish wish, int number) {
  struct actor *a = acquire(s, wish);
  stage_happens(s, "%s: %d", oldest(s), number);
  stage_happens(s, "list: %d", number);
  stage_hears(a, "", "granted");
  stage_sends(s, "", "");
  return a;
}

struct actor *waiter(struct stage *s) {
  struct actor *a = acquire(s, (struct wish){0});
  stage_happens(s, "create lock: 2");
  stage_hears(a, "list: 1 2, get 2, get 1", "");
  test_compare_text("state", "queued", state_of(a));
  stage_sends(s, "", "");
  return a;
}

void release(struct actor *a) {
  if (a->contender)
    session_release(&a->stage->session, a->stage->now, a->contender);
  settle(a->stage);
}

static void end_waiting(struct actor *a) {
  struct stage *s = a->stage;
  if (a->node_wait) session_end_node_wait(&s->session, s->now, a->node_wait);
  if (a->barrier_leave)
    session_end_barrier_leave(&s->session, s->now, a->barrier_leave);
}

void cancel(struct actor *a) {
  if (a->contender)
    session_cancel(&a->stage->session, a->stage->now, a->contender);
  end_waiting(a);
  settle(a->stage);
}

void sees_deletion(struct actor *a) {
  struct stage *s = a->stage;
  session_lose(&s->session, s->now, a->contender, LOSS_NODE_DELETED);
  settle(s);
}

void wants_watch(struct actor *a) {
  session_watch(&a->stage->session, a->stage->now, a->contender);
  settle(a->stage);
}

void spends_nonce(struct stage *s, const char *path) {
  nonce_delete(nonce_new(&s->session.nonces, path));
  settle(s);
}

/* Node waits. */

static void on_node_wait_end(struct node_wait *v, bool met) {
  struct actor *a = v->owner;
  if (met)
    add_text(a->told, "met");
  else
    note_end(a, "refused", v->refusal_code, v->reason);
  free(v);
  a->node_wait = NULL;
}

struct actor *await(struct stage *s, bool crowd) {
  struct actor *a = actor_new(s);
  struct node_wait *v = calloc(1, sizeof *v);
  *v = (struct node_wait){.path = crowd ? "/lock" : "/gate",
                          .kind = crowd ? NODE_WAIT_COUNT : NODE_WAIT_GONE,
                          .patient = true,
                          .until = NEVER,
                          .ended = on_node_wait_end,
                          .owner = a};
  a->node_wait = v;
  if (!session_begin_node_wait(&s->session, s->now, v))
    test_fail("no memory to wait");
  settle(s);
  return a;
}

/* Barrier leaves. */

static void on_release(void *self) {
  const struct actor *a = self;
  struct stage *s = a->stage;
  if (a->member->contender)
    session_release(&s->session, s->now, a->member->contender);
}

static void on_end(void *self, bool all) {
  struct actor *a = self;
  if (all)
    add_text(a->told, "all left");
  else
    note_end(a, "refused", a->barrier_leave->refusal_code,
             a->barrier_leave->reason);
}

static void on_forgotten(void *self) {
  struct actor *a = self;
  free(a->barrier_leave);
  a->barrier_leave = NULL;
  add_text(a->told, "forgotten");
}

struct actor *depart(struct actor *member) {
  struct stage *s = member->stage;
  struct actor *a = actor_new(s);
  struct barrier_leave *d = calloc(1, sizeof *d);
  a->member = member;
  snprintf(a->own, sizeof a->own, "%s", member->contender->node.name);
  *d = (struct barrier_leave){.path = "/lock",
                              .own = a->own,
                              .until = NEVER,
                              .patient = true,
                              .owner = {.self = a,
                                        .release = on_release,
                                        .ended = on_end,
                                        .forgotten = on_forgotten}};
  a->barrier_leave = d;
  session_leave_barrier(&s->session, s->now, d);
  settle(s);
  return a;
}

void actors_free(struct stage *s) {
  for (struct actor *a = s->actors, *next; a; a = next) {
    next = a->next;
    if (a->contender || a->node_wait || a->barrier_leave)
      test_fail("an actor was not forgotten");
    free(a);
  }
}
