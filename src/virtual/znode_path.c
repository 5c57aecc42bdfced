#include "znode_path.h"

#include <stdint.h>
#include <string.h>

/* Returns the character at `*at`, and advances `*at` past it. Returns U+FFFD
 * for invalid UTF-8, as Java does. So paths with invalid UTF-8 are forbidden,
 * because paths must not contain U+FFFD. */
static uint32_t next_character(const unsigned char **at) {
  const unsigned char *p = *at;
  int more = *p < 0x80   ? 0
             : *p < 0xc2 ? -1
             : *p < 0xe0 ? 1
             : *p < 0xf0 ? 2
             : *p < 0xf5 ? 3
                         : -1;
  uint32_t c = more <= 0 ? *p : *p & (0x3fu >> more);
  (*at)++;
  if (more < 0) return 0xfffd;
  for (int i = 1; i <= more; i++) {
    if ((p[i] & 0xc0) != 0x80) return 0xfffd;
    c = c << 6 | (p[i] & 0x3f);
    (*at)++;
  }
  return c;
}

/* Returns true if paths must not contain this character. Java represents a
 * character above U+FFFF by two surrogates, and ZooKeeper forbids
 * surrogates. */
static bool is_forbidden(uint32_t c) {
  return c <= 0x1f || (c >= 0x7f && c <= 0x9f) ||
         (c >= 0xd800 && c <= 0xf8ff) || c >= 0xfff0;
}

static bool is_relative(const char *name, size_t length) {
  return (length == 1 && name[0] == '.') ||
         (length == 2 && name[0] == '.' && name[1] == '.');
}

bool znode_path_is_valid(const char *path) {
  if (path[0] != '/') return false;
  if (path[1] == '\0') return true;
  for (const char *name = path + 1;;) {
    size_t length = strcspn(name, "/");
    if (length == 0 || is_relative(name, length)) return false;
    if (name[length] == '\0') break;
    name += length + 1;
  }
  for (const unsigned char *at = (const unsigned char *)path; *at;)
    if (is_forbidden(next_character(&at))) return false;
  return true;
}

bool znode_path_is_special(const char *path) {
  static const char *const special[] = {"/", "/zookeeper", "/zookeeper/quota",
                                        "/zookeeper/config"};
  for (size_t i = 0; i < sizeof special / sizeof *special; i++)
    if (strcmp(path, special[i]) == 0) return true;
  return false;
}

int znode_path_parent(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (int)(slash - path) : -1;
}
