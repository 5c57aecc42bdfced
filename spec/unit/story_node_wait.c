/* Node waits: who waits for what becomes of a node, and has none there. */
#include "stage.h"

ABOUT("The protocol, for whoever waits and contends for nothing,");

STORY("waits on when the directory of nobody is deleted") {
  struct actor *a = await(s, true);
  /* as servers do it with empty containers */
  happens(s, "list and watch: nobody, deleted /lock, list and watch: no node");
  HEARS(a, "exists /lock: no node", "");
  SENT(s, "");
  HEARS(a, "reconnects, list and watch: no node, exists /lock: no node", "");
  cancel(a);
  HEARD(a, "refused: cancelled");
  happens(s, "unwatch /lock");
  CHECK_INT(0, counted(s, "watches"));
}
