/* Classifies the client library's codes, and returns their texts. */
#ifndef ZKLOCK_LIBRARY_CODES_H
#define ZKLOCK_LIBRARY_CODES_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* After some codes, it is unknown whether a server has carried out the request
 * (code_is_unknown). After others, the server is unusable
 * (code_ends_connection). In both cases zklock closes the connection, and the
 * protocol reads the state again in the next one. zklock passes all other codes
 * on to the protocol (op.h). doc/errors.md has the table. */

/* Returns whether this code proves that the server has read this client's
 * credentials. One such code is the refusal to read a node that an ACL
 * protects. */
bool code_is_answer(int rc);
/* Returns whether the outcome of the request is unknown. The client library
 * uses these codes for unanswered requests when the connection is lost. A
 * server that fails sends some of them, too. A code that ZooKeeper does not
 * define counts as -1, which is one of these codes. */
bool code_is_unknown(int rc);
/* Returns whether the code means that this server does not serve the session.
 * Then zklock closes the connection, whatever else the server sends. */
bool code_ends_connection(int rc);
/* Returns whether the code means that the server requires authentication by
 * another scheme. The server closes the connection after such a reply. */
bool code_requires_auth(int rc);
/* Returns whether the code `rc`, which a call of the client library has
 * returned, is an error. The codes for the end of the session do not count,
 * because the handle's state reports that end. */
bool code_is_error(int rc);

const char *code_text(int rc);
const char *code_errno_text(int error);
/* Returns a text that says why there is no connection. `error` is the errno,
 * and `rc` is the library's code. `greeted`: the server had accepted the
 * connection. `secure`: the connection uses TLS. */
const char *code_failure_text(int error, int rc, bool greeted, bool secure);

#pragma GCC visibility pop

#endif
