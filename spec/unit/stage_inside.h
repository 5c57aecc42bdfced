/* What the files of the stage share: stage.c (the session, its connection and
 * time), stage_server.c (what is sent, and what is said to it), stage_actors.c
 * (who contends or waits).  All that knows the protocol's calls and records. */
#ifndef UNIT_STAGE_INSIDE_H
#define UNIT_STAGE_INSIDE_H

#include "protocol/session.h"
#include "stage.h"

#define MILLISECOND INT64_C(1000000)

enum { TEXT = 2000 };

struct request {
  struct request *next;
  uint64_t serial, with; /* `with`: of the delete in the same transaction; 0 */
  enum op_kind kind;
  bool watch, exact, persistent, shared;
  bool seen; /* by the story */
  char *path, *with_path;
  char *beside; /* its path; NULL: none */
  bool counted;
  int creates;
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
  struct node_wait *node_wait;        /* likewise */
  struct barrier_leave *barrier_leave;
  struct actor *member; /* whose barrier leave it is */
  char own[NAME_MAX_OWN];
  char told[TEXT], denial[1200];
  int reason;
  int64_t token;
};

struct stage {
  struct session session;
  int64_t now, id, timeout;
  struct request *first, *last; /* all that were sent */
  struct request *oldest;       /* that is not answered */
  struct own_node *nodes;       /* of ours */
  struct actor *actors;
  bool by_hand, in_batch, wanted, revoked, closed;
  bool forges;
  char text[TEXT], said[TEXT];
};

/* stage.c */
void add_text(char *text, const char *more);
/* The end of a batch, if it is one. */
void settle(struct stage *s);

/* stage_server.c */
bool server_submit(void *self, const struct op *op, const struct op *before);
/* Nobody will answer what was asked. */
void server_is_gone(struct stage *s);
/* Is the oldest request one that the story does not want to see? */
bool server_owes_heartbeat(const struct stage *s);
void server_answers_heartbeat(struct stage *s);
void server_free(struct stage *s);

/* stage_actors.c */
void actors_free(struct stage *s);

#endif
