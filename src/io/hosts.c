#include "hosts.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* If two processes parse the same list of servers differently, they connect to
 * different servers or use different chroots. Then both can hold the lock. The
 * reference is Java's ConnectStringParser: each text that zklock accepts means
 * the same to Java. zklock rejects each text that Java rejects, that another
 * client parses differently, or that people can misread.
 * spec/support/spellings.lua lists such texts. */

#define DIGITS "0123456789"
#define NAME_CHARACTERS \
  DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-_"
#define CHROOT_CHARACTERS NAME_CHARACTERS "/+=~@"
#define EXAMPLE "'zk1:2181,zk2:2181/app'"

static const char *character_fault(char c) {
  if (c == ' ' || (c >= '\t' && c <= '\r'))
    return "has a blank or a line break";
  switch (c) {
    case ',': /* in a chroot */
      return "is not behind the last host";
    case ':': /* in a chroot */
      return "has a port behind it";
    case ';':
      return "has a ';' (hosts are separated by ',')";
    case '"':
    case '\'':
    case '`':
      return "has a quote";
    case '@':
      return "has a '@' (credentials go into the option 'auth')";
    case '%':
      return "has a '%' (no client decodes it)";
    default:
      return (unsigned char)c > 0x7f ? "has a character beyond ASCII"
                                     : "has a character that none can have";
  }
}

static const char *odd_character(const char *from, const char *to,
                                 const char *allowed) {
  for (; from < to; from++)
    if (!strchr(allowed, *from)) return character_fault(*from);
  return NULL;
}

/* Copies the port to `host`. The port is the text between `from` and `to`.
 * Returns false if the port is invalid. zklock is stricter than other clients:
 * Java accepts "+2181", and the C client parses 010 as 8. */
static bool parse_port(struct host *host, const char *from, const char *to) {
  size_t length = (size_t)(to - from);
  if (length == 0 || length >= sizeof host->port || *from == '0') return false;
  if (strspn(from, DIGITS) < length) return false;
  memcpy(host->port, from, length);
  host->port[length] = '\0';
  return atoi(host->port) <= 65535;
}

static bool is_ipv4(const char *name) {
  struct in_addr address;
  return inet_pton(AF_INET, name, &address) == 1;
}

/* Returns whether the name is an IPv6 address, which can end with '%' and a
 * zone. zklock rejects the form that URLs use, in which the zone follows
 * "%25". */
static bool is_ipv6(const char *name) {
  char address[HOST_MAX + 1];
  struct in6_addr read;
  size_t length = strcspn(name, "%");
  const char *zone = name + length;
  memcpy(address, name, length);
  address[length] = '\0';
  if (inet_pton(AF_INET6, address, &read) != 1) return false;
  if (!*zone) return true;
  bool is_escaped = strncmp(zone, "%25", 3) == 0 && zone[3];
  size_t zone_length = strspn(zone + 1, NAME_CHARACTERS);
  return zone_length > 0 && !zone[1 + zone_length] && !is_escaped;
}

static bool is_number(const char *label, size_t length) {
  bool is_hex = label[0] == '0' && (label[1] == 'x' || label[1] == 'X');
  const char *digits = is_hex ? DIGITS "abcdefABCDEF" : DIGITS;
  size_t prefix = is_hex ? 2 : 0;
  return prefix + strspn(label + prefix, digits) == length;
}

/* Returns what is wrong with a host name, or NULL. If all parts of a name are
 * numbers, it must be a full IPv4 address. Clients treat other forms
 * differently: C parses 010.0.0.1 as 8.0.0.1, and 127.1 as 127.0.0.1. Java
 * parses 010.0.0.1 as 10.0.0.1. Go looks up such a text as a name. */
static const char *name_fault(const char *name) {
  bool is_numeric = true;
  for (const char *label = name;;) {
    size_t length = strcspn(label, ".");
    bool is_end = !label[length];
    if (length == 0 && (!is_end || label == name))
      return "has a host name with an empty part";
    is_numeric = is_numeric && is_number(label, length);
    if (is_end) break;
    label += length + 1;
  }
  return is_numeric && !is_ipv4(name)
             ? "has an IPv4 address that is not four numbers from 0 to 255"
             : NULL;
}

#define BAD_PORT "has a port that is no number from 1 to 65535"

static const char *take_name(struct host *host, const char *from,
                             const char *to) {
  if (from == to) return "has an empty host name";
  if (to - from > HOST_MAX) return "has a host name of more than 255 bytes";
  memcpy(host->name, from, (size_t)(to - from));
  host->name[to - from] = '\0';
  return NULL;
}

/* Parses `[address]` or `[address]:port`, with an IPv6 address, into `host`.
 * Returns what is wrong, or NULL. */
static const char *parse_bracketed(struct host *host, const char *from,
                                   const char *to) {
  const char *close = memchr(from, ']', (size_t)(to - from));
  if (!close) return "has a '[' without ']'";
  const char *fault = odd_character(from, to, NAME_CHARACTERS "[]:%");
  if (!fault) fault = take_name(host, from + 1, close);
  if (fault) return fault;
  if (!is_ipv6(host->name))
    return "has something other than an IPv6 address in '[…]'";
  if (close + 1 == to) return NULL;
  if (close[1] != ':') return "has something other than ':port' after ']'";
  return parse_port(host, close + 2, to) ? NULL : BAD_PORT;
}

/* Parses `name` or `name:port` into `host`. Returns what is wrong, or NULL. */
static const char *parse_named(struct host *host, const char *from,
                               const char *to) {
  const char *fault = odd_character(from, to, NAME_CHARACTERS ":");
  if (fault) return fault;
  const char *colon = memchr(from, ':', (size_t)(to - from));
  if (colon && memchr(colon + 1, ':', (size_t)(to - colon - 1)))
    return from + strspn(from, DIGITS "abcdefABCDEF:.") >= to
               ? "has more than one ':' (an IPv6 address is in '[…]')"
               : "has more than one ':' (hosts are separated by ',')";
  fault = take_name(host, from, colon ? colon : to);
  if (!fault) fault = name_fault(host->name);
  if (fault || !colon) return fault;
  return parse_port(host, colon + 1, to) ? NULL : BAD_PORT;
}

static const char *parse_host(struct host *host, const char *from,
                              const char *to) {
  if (from == to) return "has an empty element";
  if (to[-1] == ':' && strncmp(to, "//", 2) == 0) return "has a scheme";
  strcpy(host->port, "2181");
  return *from == '[' ? parse_bracketed(host, from, to)
                      : parse_named(host, from, to);
}

/* Accepts only ASCII in a chroot. Java and Python decode other characters by
 * the process's locale, so two processes could use different chroots. */
const char *hosts_chroot_fault(const char *text, size_t length) {
  if (length == 1 && *text == '/') return NULL;
  const char *fault = odd_character(text, text + length, CHROOT_CHARACTERS);
  return fault ? fault : path_fault(text, length);
}

static const char *parse_chroot(struct hosts *hosts, const char *text) {
  size_t length = strlen(text);
  const char *fault = hosts_chroot_fault(text, length);
  if (!fault && length > 1) memcpy(hosts->chroot, text, length + 1);
  return fault;
}

struct shown {
  char text[101];
};

/* Returns the beginning of the text, as one line for an error message. Returns
 * "***" if the text has a '@', because it may contain a password. */
static struct shown show(const char *text) {
  struct shown shown;
  snprintf(shown.text, sizeof shown.text, "%s",
           strchr(text, '@') ? "***" : text);
  for (char *p = shown.text; *p; p++)
    if (*p < ' ' || *p >= 0x7f) *p = '?';
  return shown;
}

static const char *parse_list(struct hosts *hosts, const char *text,
                              const char *end) {
  for (const char *from = text, *to;; from = to + 1) {
    const char *comma = memchr(from, ',', (size_t)(end - from));
    to = comma ? comma : end;
    const char *fault = parse_host(&hosts->list[hosts->count++], from, to);
    if (fault || !comma) return fault;
  }
}

bool hosts_parse(struct hosts *hosts, const char *text, char *error,
                 size_t error_size) {
  const char *slash = strchr(text, '/');
  const char *end = slash ? slash : text + strlen(text);
  size_t commas = 0;
  for (const char *p = text; p < end; p++) commas += *p == ',';
  memset(hosts, 0, sizeof *hosts);
  error[0] = '\0';
  hosts->list = calloc(commas + 1, sizeof *hosts->list);
  if (!hosts->list) return false;
  const char *fault = parse_list(hosts, text, end);
  if (fault) {
    snprintf(error, error_size, "%s (element %d of '%s'): write it as " EXAMPLE,
             fault, hosts->count, show(text).text);
    return false;
  }
  fault = slash ? parse_chroot(hosts, slash) : NULL;
  if (fault)
    snprintf(error, error_size,
             "has a chroot that %s, in '%s': write it as " EXAMPLE, fault,
             show(text).text);
  return !fault;
}
