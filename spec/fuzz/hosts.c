/* Fuzzes what reads the first argument of connect, and paths. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/hosts.h"
#include "protocol/name.h"

/* What is found is a component, and a contender. */
static void check_contender(const char *path, size_t length) {
  size_t size;
  int32_t sequence;
  const char *found = path_contender(path, length, &size);
  if (!found) return;
  assert(found >= path && found + size <= path + length);
  assert(found == path || found[-1] == '/');
  assert(found + size == path + length || found[size] == '/');
  assert(!memchr(found, '/', size));
  char *name = strndup(found, size);
  assert(!name || strlen(name) < size || name_parse(name, &sequence));
  free(name);
}

static void check_path(const char *path, size_t length) {
  if (path_fault(path, length)) return;
  assert(length > 1 && length <= PATH_MAX_BYTES);
  assert(path[0] == '/' && path[length - 1] != '/');
  assert(!memchr(path, '\0', length));
  for (size_t i = 1; i < length; i++)
    assert(path[i - 1] != '/' || path[i] != '/');
}

/* The same hosts, spelled in full. */
static char *spell(const struct hosts *hosts) {
  size_t size = sizeof hosts->chroot + 1;
  for (int i = 0; i < hosts->count; i++)
    size += strlen(hosts->list[i].name) + 10;
  char *text = malloc(size);
  if (!text) return NULL;
  size_t n = 0;
  for (int i = 0; i < hosts->count; i++) {
    const struct host *host = &hosts->list[i];
    const char *form = strchr(host->name, ':') ? "%s[%s]:%s" : "%s%s:%s";
    n += (size_t)snprintf(text + n, size - n, form, i ? "," : "", host->name,
                          host->port);
  }
  snprintf(text + n, size - n, "%s", hosts->chroot);
  return text;
}

static void check_same(const struct hosts *hosts) {
  struct hosts again;
  char fault[256];
  char *text = spell(hosts);
  if (!text) return;
  assert(hosts_parse(&again, text, fault, sizeof fault));
  assert(again.count == hosts->count);
  for (int i = 0; i < hosts->count; i++) {
    assert(strcmp(again.list[i].name, hosts->list[i].name) == 0);
    assert(strcmp(again.list[i].port, hosts->list[i].port) == 0);
  }
  assert(strcmp(again.chroot, hosts->chroot) == 0);
  free(again.list);
  free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  check_path((const char *)data, size);
  check_contender((const char *)data, size);
  char *text = malloc(size + 1);
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = '\0';

  struct hosts hosts;
  char fault[256] = "?";
  if (hosts_parse(&hosts, text, fault, sizeof fault)) {
    assert(hosts.count > 0);
    for (int i = 0; i < hosts.count; i++) {
      int port = atoi(hosts.list[i].port);
      assert(hosts.list[i].name[0] && port >= 1 && port <= 65535);
    }
    if (hosts.chroot[0])
      assert(!path_fault(hosts.chroot, strlen(hosts.chroot)));
    check_same(&hosts);
  } else {
    assert(fault[0]); /* it says what is wrong */
  }
  free(hosts.list);
  free(text);
  return 0;
}
