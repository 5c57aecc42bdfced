/* Wraps the system's <pthread.h> in builds for virtual time: see redirect.h. */
#include_next <pthread.h>

#include "virtual/redirect.h"
