/* The library's numbers: which replies tell something, and their words. */
#ifndef ZKLOCK_LIBRARY_CODES_H
#define ZKLOCK_LIBRARY_CODES_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* What each of ZooKeeper's codes means for us.  Where a code can mean that the
 * request was carried out, or that its server is no good, the connection is given
 * up, and the protocol looks again in the next one: these are UNKNOWN and FAREWELL.
 * What the others mean the protocol knows (op.h).  The table is in
 * doc/troubleshooting.md. */

/* Is it something that only a server says, after it has read our credentials?
 * (If we may not look at a node, for example.) */
bool code_is_answer(int rc);
/* What the library says when it gives up what was asked for; but that it tells
 * after the loss of the connection.  A server that has failed says some of it,
 * too, and what is no code of ZooKeeper's at all counts as -1. */
bool code_is_unknown(int rc);
/* A server's word that it does not serve this session, or not here: so the
 * connection is no good, whatever it may still say. */
bool code_is_farewell(int rc);
/* A server serves nobody that has not authenticated by a scheme of its choice: it
 * has closed the connection behind this. */
bool code_wants_auth(int rc);
/* Of a call that turns the library: has it gone wrong?  What has ended the
 * session, and not only the connection, is told as that. */
bool code_is_error(int rc);

const char *code_words(int rc);
const char *code_errno_words(int error);
/* Why there is no connection.  `greeted`: a server had accepted it. */
const char *code_failure_words(int error, int rc, bool greeted);

#pragma GCC visibility pop

#endif
