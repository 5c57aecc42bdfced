/* Buffers the client library's socket while the I/O thread runs the library.
 * Output is collected until the next poll and then sent at once. Input is read
 * in large pieces and returned from memory.
 *
 * The reason: the library sends and reads the length of a packet separately
 * from the packet. Each is a system call, and each send wakes the server. So
 * zklock makes the library call the stream_ functions below in place of the C
 * library's functions (imports.h). For every descriptor other than this
 * thread's stream, they behave like the originals. So other users of the
 * library see no change.
 *
 * With TLS, the socket carries encrypted bytes (secure.h). The library's output
 * is kept until the handshake is done.
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
  /* errno of a failure that the library's next call returns; or 0. */
  int problem;
  /* The kernel has no more input: do not read before the next poll. */
  bool is_empty;
  size_t in_at, in_end; /* the unread part of `in` */
  size_t out_end;       /* the size of the unsent output */
  struct secure secure; /* no TLS if `secure.link` is NULL */
  char in[STREAM_SIZE], out[STREAM_SIZE];
};

/* Unbinds the stream from its socket, and wipes its buffers. Credentials and
 * the session's password pass through them. */
void stream_reset(struct stream *stream);
/* Makes the stream buffer the next socket that the library creates on this
 * thread. NULL: the socket has no stream. */
void stream_use(struct stream *stream);

/* Makes the stream use TLS for its next socket, and takes ownership of the
 * link. NULL: ends TLS. */
void stream_secure(struct stream *stream, const struct tls_module *module,
                   struct tls_link *link);
/* Returns whether TLS is in use and its handshake is not done. Until then, the
 * library must not be run. */
bool stream_is_in_handshake(const struct stream *stream);
/* Continues the handshake, as secure_handshake does. */
enum tls_state stream_handshake(struct stream *stream);

/* Sends as much of the output as is possible now. */
void stream_flush(struct stream *stream);
/* Returns whether there is output to send as soon as poll reports POLLOUT. */
bool stream_wants_write(const struct stream *stream);
/* Returns whether the library has something to read from the stream, even if
 * poll reports nothing: buffered input or a failure. */
bool stream_has_input(const struct stream *stream);
/* Returns the number of buffered bytes of input. */
size_t stream_unread(const struct stream *stream);
/* Allows reads from the socket again, which can have new input. Must be called
 * after each poll. */
void stream_allow_reads(struct stream *stream);
/* Sends the output, as far as possible, and accepts no more of it. Called
 * before the socket is shut down. */
void stream_end(struct stream *stream);

/* The functions that the library calls. stream_bind follows its call of socket;
 * the others replace functions of the C library. */
void stream_bind(int fd); /* call this when `fd` is new */
int stream_close(int fd);
ssize_t stream_send(int fd, const void *data, size_t size, int flags);
ssize_t stream_recv(int fd, void *data, size_t size, int flags);
int stream_poll(struct pollfd *fds, nfds_t count, int timeout);

#pragma GCC visibility pop

#endif
