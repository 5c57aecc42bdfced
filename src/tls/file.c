#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/wipe.h"

enum { LARGEST = 1 << 20 };

static _Thread_local char words[120];

static const char *owner_fault(const struct stat *status) {
  if (status->st_uid != geteuid() && status->st_uid != 0) {
    snprintf(words, sizeof words,
             "it belongs to user %ld: zklock runs as user %ld, and trusts only "
             "that user's files and root's",
             (long)status->st_uid, (long)geteuid());
    return words;
  }
  if ((status->st_mode & 077) == 0) return NULL;
  snprintf(words, sizeof words,
           "it may be used by others (mode %03o): chmod 600 it",
           (unsigned)status->st_mode & 0777);
  return words;
}

static const char *fault_of(const struct stat *status, bool is_secret) {
  if (!S_ISREG(status->st_mode)) return "it is no regular file";
  if (status->st_size > LARGEST) return "it is larger than 1 MiB";
  return is_secret ? owner_fault(status) : NULL;
}

static const char *read_all(struct file *file, int fd) {
  while (file->size < LARGEST) {
    ssize_t n = read(fd, file->text + file->size, LARGEST - file->size);
    if (n == 0) return NULL;
    if (n < 0 && errno != EINTR) return strerror(errno);
    if (n > 0) file->size += (size_t)n;
  }
  return NULL;
}

/* Reads a file. Checks the permissions of the opened file, because the name
 * could meanwhile refer to another file. O_NONBLOCK is needed if the name is a
 * pipe: without it, open would wait for a process that writes to the pipe. */
const char *file_read(struct file *file, const char *name, bool is_secret) {
  struct stat status;
  *file = (struct file){0};
  int fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return strerror(errno);
  const char *fault =
      fstat(fd, &status) == 0 ? fault_of(&status, is_secret) : strerror(errno);
  if (!fault && !(file->text = malloc(LARGEST))) fault = "not enough memory";
  if (!fault) fault = read_all(file, fd);
  close(fd);
  if (fault) file_free(file);
  return fault;
}

void file_free(struct file *file) {
  wipe(file->text, file->size);
  free(file->text);
  *file = (struct file){0};
}
