/* Classifies the client library's codes. Returns texts for these codes, and for
 * zklock's own reasons. */
#ifndef ZKLOCK_LIBRARY_CODES_H
#define ZKLOCK_LIBRARY_CODES_H

#include <stdbool.h>
#include <stddef.h>

#include "path.h"

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
/* Returns whether the code `rc`, which a call of the client library has
 * returned, is an error. The codes for the end of the session do not count,
 * because the handle's state reports that end. */
bool code_is_error(int rc);

/* The size of a message that contains a chroot, a path and a node's name. */
enum { REASON_MAX = 2 * PATH_MAX_BYTES + 400 };

/* Returns the text of a code of ZooKeeper, or of a reason of zklock (op.h). */
const char *reason_text(int rc);
/* Writes a message to `text`, such as "cannot list (/app/locks): not
 * authenticated". In this example, `what` is "cannot list", and `reason` is
 * "not authenticated". The message shows the first `length` bytes of `path`,
 * which begins with the chroot. */
void reason_write(char *text, size_t size, const char *what, const char *path,
                  size_t length, const char *reason);
/* Returns a text that says why there is no connection. `error` is the errno,
 * and `rc` is the library's code. `greeted`: the server had accepted the
 * connection. `secure`: the connection uses TLS. */
const char *code_failure_text(int error, int rc, bool greeted, bool secure);

#pragma GCC visibility pop

#endif
