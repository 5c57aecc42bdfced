/* Reads the files of the option `tls`. */
#ifndef ZKLOCK_TLS_FILE_H
#define ZKLOCK_TLS_FILE_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

struct file {
  char *text;
  size_t size;
};

/* Reads a file. With `is_secret`, refuses a file that other users are allowed
 * to use. Returns NULL, or what is wrong. That text is valid until the next
 * call. */
const char *file_read(struct file *file, const char *name, bool is_secret);
/* Wipes and frees the text. */
void file_free(struct file *file);

#pragma GCC visibility pop

#endif
