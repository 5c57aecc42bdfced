/* Replies that are lost: what was asked was done, or not, or will be. */
#include "stage.h"

ABOUT("The protocol, when replies are lost,");

STORY("finds its node in the list when a create's reply was lost") {
  struct actor *a = ACQUIRE(s);
  made_unheard(s, 1);
  disconnects(s);
  CHECK_TEXT("finding", state_of(a));
  SENDS(s, "connects", "list");
  HEARS(a, "list: 1", ""); /* whose session is it of? */
  HEARS(a, "get 1", "granted");
  CHECK_INT(1001, token_of(a));
}

STORY("makes another node, of another name, if that create made none") {
  struct actor *a = ACQUIRE(s);
  SENDS(s, "reconnects, list: nobody", "create lock, list");
  HEARS(a, "create lock: 2, list: 2", "granted");
}

TEST("looks for its node where a server says that it has made another") {
  static const struct {
    bool elsewhere;
    const char *more;
  } oddities[] = {
      {false, NULL},
      {false, ""},
      {false, "0000000001/more"},
      {false, "000000000000000000000000000000000000000000000000000000000001"},
      {false, "1"},
      {false, "00000000001"},
      {false, "000000000x"},
      {false, "0000000001 "},
      {true, "/lock"},
      {true, "/lock/_c_other-lock-0000000001"},
      {true, ""},
  };
  for (size_t i = 0; i < sizeof oddities / sizeof *oddities; i++) {
    struct stage *s = BEGIN();
    struct actor *a = ACQUIRE(s);
    made_oddly(s, oddities[i].elsewhere, oddities[i].more);
    CHECK_TEXT("finding", state_of(a));
    HEARS(a, "list: nobody", "");
    HEARS(a, "create lock: 1, list: 1", "granted");
    END(s);
  }
}

TEST("is not granted by a node that was made for another session") {
  static const enum lock kinds[] = {MUTEX, READER, WRITER};
  for (int i = 0; i < 3; i++) {
    struct stage *s = BEGIN();
    struct actor *a = ACQUIRE(s, .lock = kinds[i]);
    made_for_another(s, 1);
    HEARS(a, "list: 1, get 1", "");
    CHECK_TEXT("finding", state_of(a)); /* ours may be another */
    happens(s, "unwatch 1, list: 1");
    CHECK_TEXT("entering", state_of(a));
    END(s);
  }
}

STORY("is not granted by an unfair lock's node of another session") {
  struct actor *a = ACQUIRE(s, .lock = UNFAIR);
  HEARS(a, "create holder with hold: 1, get holder: theirs 900", "");
  SENDS(s, "ask about 1, remove 1", "unwatch holder, create holder with hold");
}

STORY("hears nothing in events of what it has not asked for") {
  static const char *const paths[] = {"1", "/other:1", "/lock/more:7", "holder",
                                      "locks:1"};
  struct actor *a = HOLDER(s, 5);
  for (int i = 0; i < 5; i++) {
    happens(s, "deleted %s", paths[i]);
    happens(s, "changed %s", paths[i]);
  }
  children_changed(s, "");
  HEARS(a, "children /, children lock, children /lock/", "");
  SENT(s, "");
}

STORY("begins again when the node it finds is of another session") {
  struct actor *a = ACQUIRE(s);
  made_unheard(s, 1);
  HEARS(a, "reconnects, list: 1, get 1: theirs 1001", "");
  SENT(s, "unwatch 1, list");
  SENDS(s, "unwatch 1, list: 1", "create lock, list");
}

STORY("leaves a node alone that has its name and is of another session") {
  struct actor *a = ACQUIRE(s);
  cancel(a);
  made_unheard(s, 1);
  happens(s, "reconnects, list: 1, ask about 1: theirs 1001, list: 1");
  HEARD(a, "refused: cancelled, removed, forgotten");
  SENT(s, "");
}

STORY("leaves a stray alone that is of another session") {
  struct actor *a = ACQUIRE(s, .watches_parent = true);
  happens(s, "create lock: 5");
  shows_forged(s, "5", 1);
  happens(s, "ask about 0, get 5, children /lock");
  shows_forged(s, "5", 1);
  SENT(s, "");
  passes(s, 10000); /* it is asked about again */
  happens(s, "children /lock");
  shows_forged(s, "5", 1);
  happens(s, "ask about 0");
  CHECK_INT(0, counted(s, "strays"));
  HEARD(a, "");
}

STORY("deletes again when a delete's reply was lost") {
  struct actor *a = HOLDER(s, 1);
  release(a);
  SENT(s, "remove 1");
  HEARS(a, "disconnects", "");
  CHECK_INT(1, counted(s, "pending_releases"));
  HEARS(a, "connects, ask about 1, remove 1: no node", "removed, forgotten");
  CHECK_INT(0, counted(s, "pending_releases"));
}

STORY("asks for another list when there was no memory for one") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 1");
  shows_without_memory(s);
  HEARD(a, "");
  SENDS(s, "100 ms", "list");
  HEARS(a, "list: 1", "granted");
}

STORY("tries again what could not be sent, 0.1 s later") {
  cannot_send(s, true);
  struct actor *a = ACQUIRE(s);
  SENT(s, "");
  cannot_send(s, false);
  SENDS(s, "99 ms", "");
  SENDS(s, "1 ms", "create lock, list");
  HEARS(a, "create lock: 1, list: 1", "granted");
}

STORY("lists again, 0.1 s later, when there was no memory for a watch") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 2");
  shows_then_no_memory(s, "1 2");
  HEARD(a, "");
  SENDS(s, "100 ms", "list");
  HEARS(a, "list: 1 2, get 2, get 1, deleted 1", "granted");
}

STORY("deletes a stray later when its delete cannot be sent") {
  struct actor *a = ACQUIRE(s);
  made_unheard(s, 1);
  happens(s, "reconnects, list: nobody, create lock: 2");
  cannot_send(s, true);
  happens(s, "list: 1 2");
  CHECK_INT(0, counted(s, "strays"));
  cannot_send(s, false);
  SENDS(s, "100 ms", "get 2, get 1, ask about 1");
  happens(s, "get 2, get 1, ask about 1");
  CHECK_INT(1, counted(s, "strays"));
  HEARD(a, "");
}

/* What bears our mark by the thousand was made by somebody who has read it. */

static void remove_all(struct stage *s, int most) {
  CHECK(counted(s, "in_flight") <= most);
  while (*oldest(s) && strcmp(oldest(s), "list") != 0) {
    happens(s, "%s", oldest(s));
    CHECK(counted(s, "in_flight") <= most);
  }
}

STORY("deletes strays a hundred at a time, and a thousand for a list") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 5000");
  forged_are_ours(s);
  shows_forged(s, "5000", 2500);
  CHECK_INT(0, counted(s, "strays"));
  remove_all(s, 110);
  CHECK_INT(1000, counted(s, "strays"));
  shows_forged(s, "5000", 1500);
  remove_all(s, 110);
  CHECK_INT(2000, counted(s, "strays"));
  shows_forged(s, "5000", 500);
  remove_all(s, 110);
  CHECK_INT(2500, counted(s, "strays"));
  HEARD(a, "");
}

/* The directory was made anew meanwhile, and its numbers begin again. */
STORY("deletes no stray whose name a node of ours has by now") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 5");
  shows_forged(s, "5", 1);
  disconnects(s);
  cancel(a);
  next_is_as_forged(s);
  struct actor *b = ACQUIRE(s);
  happens(s, "connects, ask about 5, create lock: 0, ask about 0, list: 0");
  HEARD(b, "granted");
  SENT(s, "remove 5");
  CHECK_INT(0, counted(s, "strays"));
  HEARD(a, "refused: cancelled");
}

STORY("leaves strays alone for a timeout that are not to be deleted") {
  ACQUIRE(s, .watches_parent = true);
  happens(s, "create lock: 5");
  forged_are_ours(s);
  shows_forged(s, "5", 1);
  happens(s, "ask about 0, get 5");
  shows_forged(s, "5", 1);
  SENDS(s, "remove 0: not empty, children /lock", "list and watch");
  shows_forged(s, "5", 1);
  SENT(s, "");
  happens(s, "9999 ms, children /lock");
  shows_forged(s, "5", 1);
  SENT(s, "");
  happens(s, "1 ms, children /lock");
  shows_forged(s, "5", 1);
  SENT(s, "ask about 0");
}

STORY("forgets the strays that are left when the session is closed") {
  ACQUIRE(s);
  happens(s, "create lock: 5000");
  shows_forged(s, "5000", 500);
}

STORY("goes on with strays in the next connection") {
  ACQUIRE(s);
  happens(s, "create lock: 5000");
  forged_are_ours(s);
  shows_forged(s, "5000", 300);
  reconnects(s);
  remove_all(s, 110);
  shows_forged(s, "5000", 100);
  remove_all(s, 110);
  CHECK_INT(300, counted(s, "strays"));
}
