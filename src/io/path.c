#include "path.h"

#include <stdbool.h>
#include <string.h>

#include "protocol/name.h"

/* Decodes the UTF-8 character at the beginning of `text` into `*character`.
 * Returns its size in bytes, or 0 if it is invalid. `left` is the number of
 * bytes in `text`. */
static size_t utf8_next(const unsigned char *text, size_t left,
                        unsigned *character) {
  static const unsigned smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  unsigned c = text[0];
  size_t size = c < 0x80    ? 1
                : c >= 0xf0 ? 4
                : c >= 0xe0 ? 3
                : c >= 0xc2 ? 2
                            : 0;
  if (size == 0 || size > left || c > 0xf4) return 0;
  *character = size == 1 ? c : c & (0xffu >> (size + 1));
  for (size_t i = 1; i < size; i++) {
    if ((text[i] & 0xc0) != 0x80) return 0;
    *character = *character << 6 | (text[i] & 0x3f);
  }
  return size == 1 || *character >= smallest[size] ? size : 0;
}

/* Returns why servers refuse the character `c`, or NULL. Java servers check
 * UTF-16 units. A character beyond U+FFFF has two units, which are surrogates.
 * Servers refuse surrogates, so they refuse all these characters. */
static const char *character_fault(unsigned c) {
  if (c == 0) return "must not contain a NUL byte";
  if (c <= 0x1f || (c >= 0x7f && c <= 0x9f))
    return "must not contain a control character";
  if (c >= 0xd800 && c <= 0xdfff) return "must be valid UTF-8";
  if (c >= 0xe000 && c <= 0xf8ff)
    return "must not contain a private-use character (U+E000 to U+F8FF)";
  if (c >= 0xfff0 && c <= 0xffff)
    return "must not contain a special character (U+FFF0 to U+FFFF)";
  return c > 0xffff ? "must not contain an emoji, or another character beyond "
                      "U+FFFF, which ZooKeeper refuses"
                    : NULL;
}

static const char *component_fault(const char *text, size_t length) {
  if (length == 0) return "must not contain an empty component";
  if ((length == 1 && text[0] == '.') ||
      (length == 2 && text[0] == '.' && text[1] == '.'))
    return "must not contain a component '.' or '..'";
  return NULL;
}

/* Returns whether a contender's node can have this name. name_parse gets at
 * most the last NAME_MAX_OWN - 1 bytes of the name, because the end shows the
 * kind. */
static bool is_contender(const char *text, size_t length) {
  char end[NAME_MAX_OWN];
  size_t kept = length < sizeof end ? length : sizeof end - 1;
  int32_t sequence;
  memcpy(end, text + length - kept, kept);
  end[kept] = '\0';
  return strlen(end) == kept && name_parse(end, &sequence) != ROLE_FOREIGN;
}

const char *path_contender(const char *path, size_t path_length,
                           size_t *length) {
  const char *end = path + path_length;
  for (const char *from = path, *slash;; from = slash + 1) {
    slash = memchr(from, '/', (size_t)(end - from));
    *length = (size_t)((slash ? slash : end) - from);
    if (is_contender(from, *length)) return from;
    if (!slash) return NULL;
  }
}

static const char *text_fault(const char *text, size_t length) {
  for (size_t i = 0; i < length;) {
    unsigned character;
    size_t size =
        utf8_next((const unsigned char *)text + i, length - i, &character);
    if (size == 0) return "must be valid UTF-8";
    const char *fault = character_fault(character);
    if (fault) return fault;
    i += size;
  }
  return NULL;
}

const char *path_name_in(const char *node, const char *directory) {
  size_t length = strlen(directory + 1);
  bool is_in = strncmp(node, directory + 1, length) == 0 && /* NOLINT: prefix */
               node[length] == '/';
  return is_in ? node + length + 1 : NULL;
}

/* Checks the path of a contender's node. Returns what is wrong with it, or
 * NULL. Does not limit its length, because other clients' paths can be longer
 * than zklock's. */
const char *path_node_fault(const char *node, size_t length) {
  const char *fault = text_fault(node, length);
  if (fault) return fault;
  const char *of_gate = path_name_in(node, LOCKS);
  const char *of_permit = path_name_in(node, PERMITS);
  const char *name = of_gate ? of_gate : of_permit ? of_permit : node;
  int32_t sequence;
  enum role role = name_parse(name, &sequence);
  bool is_known = of_gate ? role == ROLE_LOCK
                  : of_permit
                      ? role == ROLE_PERMIT
                      : strcmp(name, NAME_UNFAIR) == 0 ||
                            (role != ROLE_FOREIGN && role != ROLE_PERMIT);
  return is_known && !strchr(name, '/')
             ? NULL
             : "must be a contender's node, as contenders() names it";
}

const char *path_fault(const char *path, size_t length) {
  if (length == 0 || path[0] != '/') return "must be absolute (begin with '/')";
  if (length == 1) return "must not be the root";
  if (length > PATH_MAX_BYTES) return "must not be longer than 1000 bytes";
  if (path[length - 1] == '/') return "must not end with '/'";
  const char *fault = text_fault(path, length);
  if (fault) return fault;
  for (size_t i = 1; i <= length;) {
    const char *slash = memchr(path + i, '/', length - i);
    size_t end = slash ? (size_t)(slash - path) : length;
    fault = component_fault(path + i, end - i);
    if (fault) return fault;
    i = end + 1;
  }
  return NULL;
}
