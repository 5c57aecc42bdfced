#include "handshake.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

/* ZEROS: a packet starts with a 4-byte big-endian length. If the packet is
 * shorter than 256 bytes, the first ZEROS bytes of the length are zero. SHOWN:
 * error messages quote at most this many bytes of a reply. */
enum { ZEROS = 3, SHOWN = 40, ERROR_MAX = 320 };

static _Thread_local int expected = -1,
                         zeros; /* number of zero bytes read so far */
static _Thread_local char error_text[ERROR_MAX];

void handshake_expect(int fd) {
  expected = fd;
  zeros = 0;
}

const char *handshake_error(void) { return error_text; }

bool handshake_is_tls(const char *head, size_t size) {
  bool is_type = size > 0 && (head[0] == 0x15 || head[0] == 0x16);
  return is_type && (size == 1 || head[1] == 3);
}

void handshake_set_error(const char *text) {
  snprintf(error_text, sizeof error_text, "%s", text);
}

static const char *protocol_of(const char *head) {
  static const struct {
    const char *begin, *name;
  } known[] = {{"HTTP/", "an HTTP server"},
               {"SSH-", "an SSH server"},
               {"-ERR", "Redis"},
               {"-NOAUTH", "Redis"},
               {"-DENIED", "Redis"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strncmp(head, known[i].begin, strlen(known[i].begin)) == 0)
      return known[i].name;
  return NULL;
}

/* Sets the description of a failure to `what` and the first line of `head`, the
 * server's reply. The reply is untrusted input, so unprintable characters are
 * replaced. */
static void describe(const char *what, char *head) {
  const char *protocol = protocol_of(head);
  head[strcspn(head, "\r\n")] = '\0';
  for (char *at = head; *at; at++)
    if (*at < ' ' || *at > '~' || *at == '"' || *at == '\\') *at = '?';
  if (protocol)
    snprintf(error_text, sizeof error_text, "%s: it answers like %s (\"%s\")",
             what, protocol, head);
  else if (*head)
    snprintf(error_text, sizeof error_text, "%s: it answers \"%s\"", what,
             head);
  else
    snprintf(error_text, sizeof error_text,
             "%s: it answers in another protocol", what);
}

void handshake_set_plain_error(const char *data, size_t size) {
  char head[SHOWN + 1] = "";
  memcpy(head, data, size < SHOWN ? size : SHOWN);
  describe("the server speaks no TLS on this port", head);
}

/* Returns whether `head` is a reply to the request `isro`. zklock does not send
 * this request, but another user of the client library can send it. */
static bool is_isro_reply(const char *head) {
  return strcmp(head, "rw") == 0 || strcmp(head, "ro") == 0 ||
         strcmp(head, "null") == 0;
}

/* Checks the server's next `size` bytes, which are in `head`. Returns -1, 0 or
 * a number of bytes, as handshake_peek does. */
static int check(char *head, size_t size) {
  size_t missing = (size_t)(ZEROS - zeros);
  size_t checked = size < missing ? size : missing;
  if (memcmp(head, "\0\0\0", checked) == 0) {
    zeros += (int)checked;
    if (zeros < ZEROS) return (int)checked;
    expected = -1;
    return 0;
  }
  expected = -1;
  if (zeros == 0 && is_isro_reply(head)) return 0;
  if (size > 1 && handshake_is_tls(head, size))
    handshake_set_error(
        "the server speaks TLS on this port: set the option 'tls' (see "
        "doc/operations.md)");
  else
    describe("it is no ZooKeeper server", head);
  return -1;
}

bool handshake_is_expected(int fd) { return fd >= 0 && fd == expected; }

int handshake_peek(int fd) {
  char head[SHOWN + 1] = "";
  if (!handshake_is_expected(fd)) return 0;
  ssize_t n = recv(fd, head, SHOWN, MSG_PEEK);
  return n > 0 ? check(head, (size_t)n) : 0;
}

int handshake_check(const char *data, size_t size) {
  char head[SHOWN + 1] = "";
  if (size > SHOWN) size = SHOWN;
  memcpy(head, data, size);
  return check(head, size);
}
