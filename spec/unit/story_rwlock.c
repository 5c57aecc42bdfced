/* Readers and writers, and who downgrades. */
#include "stage.h"

ABOUT("The protocol, for readers and writers,");

STORY("grants readers together, and none behind a writer") {
  struct actor *first = ACQUIRE(s, .lock = READER);
  struct actor *second = ACQUIRE(s, .lock = READER);
  SENT(s, "create read, list, create read, list");
  HEARS(first, "create read: 2, list: 1r 2", "granted");
  HEARS(second, "create read: 4, list: 1r 2 3w 4", "");
  HEARS(second, "get 4, get 3, deleted 3w", "granted");
}

STORY("downgrades to a reader of the writer's own number, with its token") {
  struct actor *writer = HOLDER(s, 4, .lock = WRITER);
  struct actor *reader = ACQUIRE(s, .lock = READER, .below = writer);
  SENT(s, "get 4, create read 4, list");
  /* both: the writer's place is the reader's */
  HEARS(reader, "get 4, create read 4: 99, list: 4w 4r 5w", "granted");
  CHECK_INT(1004, token_of(reader));
  release(writer);
  HEARS(reader, "remove 4", "");
}

TEST("refuses a downgrade when the writer's name is another's") {
  for (int released = 0; released < 2; released++) {
    struct stage *s = BEGIN();
    struct actor *writer = HOLDER(s, 4, .lock = WRITER);
    struct actor *reader = ACQUIRE(s, .lock = READER, .below = writer);
    happens(s, "get 4");
    if (released) release(writer);
    happens(s, "deleted 4w, create read 4: 99, list: 4w 4r 5w");
    HEARD(reader, "refused: lost");
    END(s);
  }
}

STORY("ends a downgrade with its session: the writer's place is gone") {
  struct actor *writer = HOLDER(s, 4, .lock = WRITER);
  struct actor *reader = ACQUIRE(s, .lock = READER, .below = writer);
  HEARS(writer, "expires", "lost: closed, removed, forgotten");
  HEARD(reader, "refused: lost, removed, forgotten");
}

STORY("refuses a downgrade where the directory is gone: so is the writer") {
  struct actor *writer = HOLDER(s, 4, .lock = WRITER);
  struct actor *reader = ACQUIRE(s, .lock = READER, .below = writer);
  happens(s, "get 4, create read 4: no node");
  HEARD(reader, "refused: lost, removed, forgotten");
}

STORY("refuses a downgrade when the writer was gone before the reader came") {
  struct actor *writer = HOLDER(s, 4, .lock = WRITER);
  struct actor *reader = ACQUIRE(s, .lock = READER, .below = writer);
  HEARS(reader, "get 4, create read 4: 99, list: 4r 5w", "refused: lost");
}

STORY(
    "refuses a downgrade when what is read in the writer's place is "
    "another's") {
  struct actor *writer = HOLDER(s, 4, .lock = WRITER);
  struct actor *reader = ACQUIRE(s, .lock = READER, .below = writer);
  release(writer);
  happens(s, "get 4: nobody's, create read 4: 99, list: 4w 4r 5w");
  HEARD(reader, "refused: lost");
}
