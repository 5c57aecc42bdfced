/* The client library's codes: what each code implies for the connection, and
 * its text. */
#ifndef ZKLOCK_LIBRARY_CODES_H
#define ZKLOCK_LIBRARY_CODES_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* These functions classify ZooKeeper's codes. After some codes, it is unknown
 * whether a server has carried out the request (code_is_unknown). After others,
 * the server is unusable (code_ends_connection). Then zklock closes the
 * connection, and the protocol reads the state again in the next one. All other
 * codes are passed on to the protocol (op.h). doc/errors.md has the table. */

/* Returns whether this code proves that the server has read this client's
 * credentials. Example: the code for a node that an ACL forbids to read. */
bool code_is_answer(int rc);
/* Returns whether the outcome of the request is unknown. The client library
 * uses these codes for unanswered requests after the loss of the connection. A
 * failed server sends some of them, too. A code that ZooKeeper does not define
 * counts as -1, which is unknown. */
bool code_is_unknown(int rc);
/* Returns whether the code means that this server does not serve the session.
 * Then the connection is closed, whatever else the server sends. */
bool code_ends_connection(int rc);
/* Returns whether the code means that the server requires authentication by
 * other schemes. The server has closed the connection after this reply. */
bool code_requires_auth(int rc);
/* Returns whether a call of the client library has failed. The end of the
 * session is not an error here, because it is reported by the handle's
 * state. */
bool code_is_error(int rc);

const char *code_text(int rc);
const char *code_errno_text(int error);
/* Returns a text that says why there is no connection. `greeted`: a server had
 * accepted the connection. `secure`: the connection uses TLS. */
const char *code_failure_text(int error, int rc, bool greeted, bool secure);

#pragma GCC visibility pop

#endif
