// ZooKeeper's encoding: big-endian numbers, texts with their length before them.
#ifndef FLOOR_JUTE_H
#define FLOOR_JUTE_H

#include <stddef.h>
#include <stdint.h>

#include "client.h"

struct buffer {
  unsigned char *bytes;
  size_t size, room;
};

void put_bytes(struct buffer *buffer, const void *bytes, size_t size);
void put_byte(struct buffer *buffer, int value);
void put_int(struct buffer *buffer, int32_t value);
void put_long(struct buffer *buffer, int64_t value);
void put_text(struct buffer *buffer, const char *text);
void make_room(struct buffer *buffer, size_t size);

// What is read never goes beyond `end`: the program ends instead.
struct cursor {
  const unsigned char *at, *end;
};

int32_t get_int(struct cursor *cursor);
int64_t get_long(struct cursor *cursor);
struct span get_text(struct cursor *cursor);

#endif
