/* Buffers the client library's socket while the I/O thread runs the library. A
 * stream collects output until the next poll, and then sends all of it by one
 * call. It reads input in large pieces, and returns it from memory.
 *
 * This saves system calls. Without a stream, the library sends and reads a
 * packet by two calls, one for its length. Each send wakes the server. zklock
 * makes the library call the stream_ functions below in place of the C
 * library's functions (imports.h). For each descriptor that is not the socket
 * of this thread's stream, they behave like the originals. So nothing changes
 * for other users of the library.
 *
 * With TLS, the socket carries encrypted bytes (secure.h). The stream keeps the
 * library's output until the handshake is done.
 *
 * A stream belongs to the thread that has called stream_use. */
#ifndef ZKLOCK_STREAM_H
#define ZKLOCK_STREAM_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "secure.h"

#pragma GCC visibility push(hidden)

enum { STREAM_SIZE = 16384 };

struct stream {
  int fd; /* -1: there is no socket */
  /* The errno of a failure, which the library's next call returns. 0: no
   * failure. */
  int problem;
  /* The kernel had no more input. The stream does not read again before the
   * next poll. */
  bool is_empty;
  size_t in_at, in_end; /* the unread part of `in` */
  size_t out_end;       /* the size of the unsent output */
  struct secure secure; /* no TLS if `secure.link` is NULL */
  char in[STREAM_SIZE], out[STREAM_SIZE];
};

/* Unbinds the stream from its socket, and wipes its buffers, because they can
 * contain credentials and the session's password. */
void stream_reset(struct stream *stream);
/* Makes the stream buffer the next socket that the library creates on this
 * thread. If `stream` is NULL, that socket gets no stream. */
void stream_use(struct stream *stream);

/* Makes the stream use TLS for its next socket. Takes ownership of `link`. If
 * `link` is NULL, the stream uses no TLS. */
void stream_secure(struct stream *stream, const struct tls_module *module,
                   struct tls_link *link);
/* Returns whether TLS is in use and its handshake is not done. Until then, the
 * client library must not run. */
bool stream_is_in_handshake(const struct stream *stream);
/* Continues the handshake and returns its state, as secure_handshake does. */
enum tls_state stream_handshake(struct stream *stream);

/* Sends as much of the buffered output as is possible now. */
void stream_flush(struct stream *stream);
/* Returns whether there is output that can be sent when poll reports
 * POLLOUT. */
bool stream_wants_write(const struct stream *stream);
/* Returns whether a read would yield something even if poll reports nothing:
 * buffered or decryptable input, or an error that has not been returned yet. */
bool stream_has_input(const struct stream *stream);
/* Returns the number of buffered input bytes that the library has not read. */
size_t stream_unread(const struct stream *stream);
/* Allows reads from the socket again. Must be called after each poll, because
 * the socket can have new input. */
void stream_allow_reads(struct stream *stream);
/* Sends the buffered output, as far as possible, and refuses further output.
 * Called before the socket is shut down. */
void stream_end(struct stream *stream);

/* The client library calls these functions. It calls stream_bind after each
 * call of socket. The others replace functions of the C library. */
void stream_bind(int fd); /* call this when `fd` is new */
int stream_close(int fd);
ssize_t stream_send(int fd, const void *data, size_t size, int flags);
ssize_t stream_recv(int fd, void *data, size_t size, int flags);
int stream_poll(struct pollfd *fds, nfds_t count, int timeout);

#pragma GCC visibility pop

#endif
