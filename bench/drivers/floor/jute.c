#include "jute.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

void make_room(struct buffer *buffer, size_t size) {
  if (buffer->size + size <= buffer->room) return;
  buffer->room = 2 * (buffer->size + size);
  buffer->bytes = realloc(buffer->bytes, buffer->room);
  if (!buffer->bytes) die("no memory");
}

void put_bytes(struct buffer *buffer, const void *bytes, size_t size) {
  make_room(buffer, size);
  memcpy(buffer->bytes + buffer->size, bytes, size);
  buffer->size += size;
}

void put_byte(struct buffer *buffer, int value) {
  unsigned char byte = (unsigned char)value;
  put_bytes(buffer, &byte, 1);
}

void put_int(struct buffer *buffer, int32_t value) {
  uint32_t big = htonl((uint32_t)value);
  put_bytes(buffer, &big, sizeof big);
}

void put_long(struct buffer *buffer, int64_t value) {
  put_int(buffer, (int32_t)(value >> 32));
  put_int(buffer, (int32_t)value);
}

void put_text(struct buffer *buffer, const char *text) {
  size_t size = strlen(text);
  put_int(buffer, (int32_t)size);
  put_bytes(buffer, text, size);
}

static const unsigned char *take(struct cursor *cursor, size_t size) {
  const unsigned char *at = cursor->at;
  if ((size_t)(cursor->end - at) < size) die("a reply that is too short");
  cursor->at += size;
  return at;
}

int32_t get_int(struct cursor *cursor) {
  uint32_t big;
  memcpy(&big, take(cursor, sizeof big), sizeof big);
  return (int32_t)ntohl(big);
}

int64_t get_long(struct cursor *cursor) {
  int64_t high = get_int(cursor);
  return (int64_t)((uint64_t)high << 32 | (uint32_t)get_int(cursor));
}

struct span get_text(struct cursor *cursor) {
  int32_t size = get_int(cursor);
  struct span span = {NULL, 0};
  if (size <= 0) return span;
  span.size = (size_t)size;
  span.text = (const char *)take(cursor, span.size);
  return span;
}
