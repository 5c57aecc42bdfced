/* The client library's codes: what they say about the connection, and their
 * texts. */
#ifndef ZKLOCK_LIBRARY_CODES_H
#define ZKLOCK_LIBRARY_CODES_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Classifies ZooKeeper's codes. With some codes the request may have been
 * carried out, or the server is unusable: these are UNKNOWN and FAREWELL. Then
 * the connection is closed, and the protocol reads the state again in the next
 * one. The protocol handles the other codes (op.h). doc/errors.md has
 * the table. */

/* Returns whether only a server that has read our credentials can reply with
 * this code. Example: we may not read a node. */
bool code_is_answer(int rc);
/* Returns whether the outcome of the request is unknown. The library uses these
 * codes for requests that it gives up after the loss of the connection. A
 * failed server sends some of them, too. A code that is not one of ZooKeeper's
 * counts as -1. */
bool code_is_unknown(int rc);
/* Returns whether the server says that it does not serve this session, or not
 * here. Then the connection is closed, whatever else the server sends. */
bool code_is_farewell(int rc);
/* Returns whether the server requires authentication by a scheme of its choice.
 * It has closed the connection after this reply. */
bool code_wants_auth(int rc);
/* Returns whether a call that runs the library has failed. The end of the
 * session is not an error here: it is reported as such. */
bool code_is_error(int rc);

const char *code_words(int rc);
const char *code_errno_words(int error);
/* Returns why there is no connection. `greeted`: a server had accepted it.
 * `secure`: it speaks TLS. */
const char *code_failure_words(int error, int rc, bool greeted, bool secure);

#pragma GCC visibility pop

#endif
