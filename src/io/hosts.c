#include "hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *trim(const char *from, const char **to) {
  while (from < *to && (*from == ' ' || *from == '\t')) from++;
  while (*to > from && ((*to)[-1] == ' ' || (*to)[-1] == '\t')) (*to)--;
  return from;
}

static bool parse_port(struct host *host, const char *from, const char *to) {
  long port = 0;
  if (from == to || to - from > 5) return false;
  for (const char *p = from; p < to; p++) {
    if (*p < '0' || *p > '9') return false;
    port = port * 10 + (*p - '0');
  }
  if (port < 1 || port > 65535) return false;
  snprintf(host->port, sizeof host->port, "%ld", port);
  return true;
}

/* (What is beyond ASCII the resolver would want in another spelling.) */
static bool may_be_in_name(unsigned char c) {
  return c > ' ' && c < 0x7f && c != '[' && c != ']';
}

#define BAD_PORT "a port that is no number from 1 to 65535"

/* `host`, `host:port`, `[v6]`, `[v6]:port`; what is wrong, or NULL. */
static const char *parse_host(struct host *host, const char *from,
                              const char *to) {
  const char *port = NULL;
  from = trim(from, &to);
  if (from == to) return "an empty element";
  if (*from == '[') {
    const char *close = memchr(from, ']', (size_t)(to - from));
    if (!close) return "a '[' without ']'";
    if (close + 1 < to) {
      if (close[1] != ':') return "something other than ':port' after ']'";
      port = close + 2;
    }
    from++;
    to = port ? to : close;
    if (port) {
      if (!parse_port(host, port, to)) return BAD_PORT;
      to = close;
    }
  } else {
    const char *colon = memchr(from, ':', (size_t)(to - from));
    if (colon) {
      if (memchr(colon + 1, ':', (size_t)(to - colon - 1)))
        return "an IPv6 address that is not in '[…]'";
      if (!parse_port(host, colon + 1, to)) return BAD_PORT;
      port = colon + 1;
      to = colon;
    }
  }
  if (from == to) return "an empty host name";
  if (to - from > HOST_MAX) return "a host name of more than 255 bytes";
  for (const char *p = from; p < to; p++)
    if (!may_be_in_name((unsigned char)*p))
      return "a host name with a character that none can have";
  if (!port) strcpy(host->port, "2181");
  memcpy(host->name, from, (size_t)(to - from));
  host->name[to - from] = '\0';
  return NULL;
}

static const char *parse_chroot(struct hosts *hosts, const char *from) {
  const char *to = from + strlen(from);
  from = trim(from, &to);
  size_t length = (size_t)(to - from);
  if (length <= 1) return NULL; /* "" or "/": none */
  const char *fault = path_fault(from, length);
  if (fault) return fault;
  memcpy(hosts->chroot, from, length);
  hosts->chroot[length] = '\0';
  return NULL;
}

bool hosts_parse(struct hosts *hosts, const char *text, char *error,
                 size_t error_size) {
  const char *slash = strchr(text, '/');
  const char *end = slash ? slash : text + strlen(text);
  int commas = 0;
  for (const char *p = text; p < end; p++) commas += *p == ',';
  memset(hosts, 0, sizeof *hosts);
  error[0] = '\0';
  hosts->list = calloc((size_t)commas + 1, sizeof *hosts->list);
  if (!hosts->list) return false;
  for (const char *from = text; hosts->count <= commas; hosts->count++) {
    const char *comma = memchr(from, ',', (size_t)(end - from));
    const char *fault =
        parse_host(&hosts->list[hosts->count], from, comma ? comma : end);
    if (fault) {
      snprintf(error, error_size, "has %s (element %d of '%.100s')", fault,
               hosts->count + 1, text);
      return false;
    }
    from = comma ? comma + 1 : end;
  }
  const char *fault = slash ? parse_chroot(hosts, slash) : NULL;
  if (fault) {
    snprintf(error, error_size, "has a chroot that is not valid: it %s", fault);
    return false;
  }
  return true;
}
