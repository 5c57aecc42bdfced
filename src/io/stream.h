/* Buffers the library's socket while the I/O thread runs it. Output is
 * collected until the next poll and then sent at once. Input is read in large
 * pieces and returned from memory.
 *
 * The library sends and reads the length of a packet separately from the
 * packet. Each is a system call, and each send wakes the server. So it calls
 * the stream_ functions below in place of the C library's (imports.h). For
 * descriptors other than this thread's stream they do what the originals do. So
 * they change nothing for other users of the library.
 *
 * With TLS, the socket carries encrypted bytes (secure.h). The library's
 * output is kept until the handshake is done.
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
  int fd;        /* -1: none */
  int problem;   /* errno of a failure that the library could not be told at
                    once: its next call returns it; or 0 */
  bool is_empty; /* the kernel had no more than `in`: nothing is read before the
                    next poll */
  size_t in_at, in_end; /* the unread part of `in` */
  size_t out_end;       /* the size of the unsent output */
  struct secure secure; /* without a link: no TLS */
  char in[STREAM_SIZE], out[STREAM_SIZE];
};

/* Resets the stream and wipes its buffers: credentials and the session's
 * password pass through them. */
void stream_reset(struct stream *stream);
/* Binds this thread's next socket to the stream. NULL: to none. */
void stream_use(struct stream *stream);

/* Makes the next socket speak TLS, and takes ownership of the link. NULL: ends
 * TLS. */
void stream_secure(struct stream *stream, const struct tls_module *module,
                   struct tls_link *link);
/* Returns whether the TLS handshake is under way. The library must not be run
 * meanwhile. */
bool stream_is_shaking(const struct stream *stream);
/* Continues it, as secure_shake does. */
enum tls_state stream_shake(struct stream *stream);

/* Sends as much of the output as is possible now. */
void stream_flush(struct stream *stream);
/* Returns whether there is unsent output. It can be sent when poll reports
 * POLLOUT. */
bool stream_is_waiting(const struct stream *stream);
/* Returns whether the library must read although poll may report nothing. */
bool stream_has_news(const struct stream *stream);
/* Returns the number of bytes read ahead. */
size_t stream_unread(const struct stream *stream);
/* Must be called after a poll: the socket may have more to read. */
void stream_look_again(struct stream *stream);
/* Sends the output and accepts no more, because the socket is about to be shut
 * down. */
void stream_end(struct stream *stream);

/* The functions that the library calls. */
void stream_bind(int fd); /* a socket that was just created */
int stream_close(int fd);
ssize_t stream_send(int fd, const void *data, size_t size, int flags);
ssize_t stream_recv(int fd, void *data, size_t size, int flags);
int stream_poll(struct pollfd *fds, nfds_t count, int timeout);

#pragma GCC visibility pop

#endif
