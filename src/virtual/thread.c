#include "thread.h"

#include <stdio.h>
#include <stdlib.h>

struct thread thread_first = {.name = "the first"};
static struct thread **end = &thread_first.next;
static int numbers;

void thread_init(void) {
  thread_first.id = pthread_self();
  thread_first.number = ++numbers;
  thread_first.deadline = NEVER;
  sem_init(&thread_first.turn, 0, 0);
}

struct thread *thread_new(const char *name) {
  struct thread *t = calloc(1, sizeof *t);
  if (!t) return NULL;
  t->number = ++numbers;
  t->name = name;
  t->deadline = NEVER;
  sem_init(&t->turn, 0, 0);
  *end = t;
  end = &t->next;
  return t;
}

void thread_free(struct thread *thread) {
  struct thread *before = &thread_first;
  while (before->next != thread) before = before->next;
  before->next = thread->next;
  if (end == &thread->next) end = &before->next;
  sem_destroy(&thread->turn);
  free(thread);
}

struct thread *thread_find(pthread_t id) {
  struct thread *t = &thread_first;
  while (t && !pthread_equal(t->id, id)) t = t->next;
  return t;
}

struct thread *thread_holder(const void *object) {
  for (struct thread *t = &thread_first; t; t = t->next)
    for (int i = 0; i < t->held_count; i++)
      if (t->held[i] == object) return t;
  return NULL;
}

void thread_wake(const void *object) {
  for (struct thread *t = &thread_first; t; t = t->next)
    if ((t->wait == WAIT_FOR_OBJECT || t->wait == WAIT_FOR_THREAD) &&
        t->object == object)
      t->wait = WAIT_FOR_TURN;
}

int thread_count(void) {
  int n = 0;
  for (const struct thread *t = &thread_first; t; t = t->next)
    n += t->wait != WAIT_IS_OVER;
  return n;
}

/* Removes all threads but `kept` from the list, and frees them. The first
 * thread is a static object, so it stays in the list. If it is not `kept`, it
 * is marked as ended. */
void thread_keep_only(struct thread *kept) {
  for (struct thread *t = thread_first.next; t;) {
    struct thread *next = t->next;
    if (t != kept) free(t);
    t = next;
  }
  end = &thread_first.next;
  thread_first.next = NULL;
  if (kept == &thread_first) return;
  thread_first.wait = WAIT_IS_OVER;
  thread_first.next = kept;
  kept->next = NULL;
  end = &kept->next;
}

void thread_bury(void) {
  for (struct thread *t = thread_first.next; t;) {
    struct thread *next = t->next;
    if (t->is_detached && t->wait == WAIT_IS_OVER) {
      (pthread_join)(t->id, NULL);
      thread_free(t);
    }
    t = next;
  }
}

static void describe(const struct thread *t) {
  fprintf(stderr, "  thread %d (%s)", t->number, t->name);
  const struct thread *holder =
      t->wait == WAIT_FOR_OBJECT ? thread_holder(t->object) : NULL;
  switch (t->wait) {
    case WAIT_FOR_TURN:
      fprintf(stderr, " can run");
      break;
    case WAIT_FOR_POLL:
      fprintf(stderr, t->count ? " polls descriptors" : " sleeps");
      for (nfds_t i = 0; i < t->count; i++)
        fprintf(stderr, " %d", t->fds[i].fd);
      if (t->deadline != NEVER)
        fprintf(stderr, " until %.6f", (double)t->deadline / 1e9);
      break;
    case WAIT_FOR_OBJECT:
      fprintf(stderr, " waits for a mutex");
      if (holder) fprintf(stderr, " that thread %d holds", holder->number);
      break;
    case WAIT_FOR_THREAD:
      fprintf(stderr, " joins thread %d",
              ((const struct thread *)t->object)->number);
      break;
    case WAIT_IS_OVER:
      fprintf(stderr, " has ended");
  }
  fprintf(stderr, "\n");
}

void thread_describe_all(void) {
  for (const struct thread *t = &thread_first; t; t = t->next) describe(t);
}
