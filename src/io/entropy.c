#include "entropy.h"

#include <unistd.h>
#if defined(__linux__) || defined(__APPLE__)
#include <sys/random.h>
#endif

bool entropy(void *bytes, size_t size) { return getentropy(bytes, size) == 0; }
