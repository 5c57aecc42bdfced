/* In place of the system's own in a build for virtual time: see redirect.h. */
#include_next <pthread.h>

#include "virtual/redirect.h"
