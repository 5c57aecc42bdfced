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
 * belongs to another user, except root, or that other users can access.
 * Returns NULL on success, or an error message that is valid until the next
 * call. */
const char *file_read(struct file *file, const char *name, bool is_secret);
/* Wipes and frees the file's text in memory. */
void file_free(struct file *file);

#pragma GCC visibility pop

#endif
