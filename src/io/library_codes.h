/* The library's numbers: which replies tell something, and their words. */
#ifndef ZKLOCK_LIBRARY_CODES_H
#define ZKLOCK_LIBRARY_CODES_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Is it something that only a server says?  (Who may not look at a node, for
 * example, is told so.) */
bool code_is_answer(int rc);
/* What the library says when it gives up what was asked for; but that it tells
 * after the loss of the connection.  A server that has failed says some of it,
 * too. */
bool code_is_unknown(int rc);
/* A server's word that it does not serve this session, or not here: so the
 * connection is no good, whatever it may still say. */
bool code_is_farewell(int rc);
/* Of a call that turns the library: has it gone wrong?  What has ended the
 * session, and not only the connection, is told as that. */
bool code_is_error(int rc);

const char *code_words(int rc);
const char *code_errno_words(int error);
/* Why there is no connection.  `greeted`: a server had accepted it. */
const char *code_failure_words(int error, int rc, bool greeted);

#pragma GCC visibility pop

#endif
