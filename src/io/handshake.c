#include "handshake.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

/* The zero bytes at the start of such a short packet; the bytes quoted in a
 * message. */
enum { ZEROS = 3, SHOWN = 40 };

static _Thread_local int expected = -1, zeros; /* zero bytes read so far */
static _Thread_local char words[160];

void handshake_expect(int fd) {
  expected = fd;
  zeros = 0;
}

const char *handshake_words(void) { return words; }

/* Returns whether it is TLS: an alert or a handshake. */
static bool is_tls(const char *head, size_t size) {
  return size > 1 && (head[0] == 0x15 || head[0] == 0x16) && head[1] == 3;
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

/* Describes the reply, with its first line. That line is untrusted input, so
 * unprintable characters are replaced. */
static void describe(char *head, size_t size) {
  const char *protocol = protocol_of(head);
  bool tls = is_tls(head, size);
  head[strcspn(head, "\r\n")] = '\0';
  for (char *at = head; *at; at++)
    if (*at < ' ' || *at > '~' || *at == '"' || *at == '\\') *at = '?';
  if (tls)
    snprintf(words, sizeof words,
             "it is no ZooKeeper server: it answers in TLS (see doc/tls.md)");
  else if (protocol)
    snprintf(words, sizeof words,
             "it is no ZooKeeper server: it answers like %s (\"%s\")", protocol,
             head);
  else if (*head)
    snprintf(words, sizeof words,
             "it is no ZooKeeper server: it answers \"%s\"", head);
  else
    snprintf(words, sizeof words,
             "it is no ZooKeeper server: it answers in another protocol");
}

/* Returns whether it is a reply to `isro`, which another user of the library
 * may send. */
static bool is_word(const char *head) {
  return strcmp(head, "rw") == 0 || strcmp(head, "ro") == 0 ||
         strcmp(head, "null") == 0;
}

int handshake_look(int fd) {
  char head[SHOWN + 1] = "";
  if (fd < 0 || fd != expected) return 0;
  ssize_t n = recv(fd, head, SHOWN, MSG_PEEK);
  if (n <= 0) return 0;
  int missing = ZEROS - zeros;
  int looked = n < missing ? (int)n : missing;
  if (memcmp(head, "\0\0\0", (size_t)looked) == 0) {
    zeros += looked;
    if (zeros < ZEROS) return looked;
    expected = -1;
    return 0;
  }
  expected = -1;
  if (zeros == 0 && is_word(head)) return 0;
  describe(head, (size_t)n);
  return -1;
}
