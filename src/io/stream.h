/* The library's socket, as the library sees it while our thread turns it: what
 * it sends is gathered until we are about to poll, and goes out in one piece;
 * what has come is read in one piece, and handed over from memory.
 *
 * The library sends the length of a packet and the packet apart, and reads them
 * so: each is a system call, and each that is sent wakes the server.  It calls
 * the stream_ functions below in place of the C library's (imports.h).  They do
 * what those do, but for a descriptor that is not the thread's stream: who else
 * uses the library has none.
 *
 * All of a stream is the thread's that has called stream_use. */
#ifndef ZKLOCK_STREAM_H
#define ZKLOCK_STREAM_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

enum { STREAM_SIZE = 16384 };

struct stream {
  int fd;        /* -1: none */
  int problem;   /* errno of what went wrong, and was not the library's to
                     hear at that moment: it is told at the next; or 0 */
  bool is_empty; /* what is in `in` is all that there was: nothing is read
                     before the next poll */
  size_t in_at, in_end; /* what was read ahead */
  size_t out_end;       /* what waits to be sent */
  char in[STREAM_SIZE], out[STREAM_SIZE];
};

/* Wipes what was in it: credentials, and the session's password, pass through. */
void stream_reset(struct stream *stream);
/* This thread's next socket will be this one's.  NULL: nobody's. */
void stream_use(struct stream *stream);

/* Sends what waits, as much of it as can be sent now. */
void stream_flush(struct stream *stream);
/* Is there more, which can be sent when poll says so? */
bool stream_is_waiting(const struct stream *stream);
/* Has the library something to hear that no poll tells? */
bool stream_has_news(const struct stream *stream);
/* Bytes that it has read ahead. */
size_t stream_unread(const struct stream *stream);
/* After a poll: there may be more to read. */
void stream_look_again(struct stream *stream);
/* Sends what waits, and takes nothing more: the socket is about to be shut. */
void stream_end(struct stream *stream);

/* What the library calls. */
void stream_bind(int fd); /* a socket that it has just made */
int stream_close(int fd);
ssize_t stream_send(int fd, const void *data, size_t size, int flags);
ssize_t stream_recv(int fd, void *data, size_t size, int flags);
int stream_poll(struct pollfd *fds, nfds_t count, int timeout);

#pragma GCC visibility pop

#endif
