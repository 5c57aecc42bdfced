/* Reads the files that the option `tls` names. */
#ifndef ZKLOCK_TLS_FILE_H
#define ZKLOCK_TLS_FILE_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

struct file {
  char *text;
  size_t size;
};

/* Reads the file `name` into `file`. With `is_secret`, refuses a file that
 * other users are allowed to use. Returns NULL, or what is wrong. The returned
 * text is valid until the next call. */
const char *file_read(struct file *file, const char *name, bool is_secret);
/* Wipes and frees the file's text in memory. */
void file_free(struct file *file);

#pragma GCC visibility pop

#endif
