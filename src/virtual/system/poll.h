/* Wraps the system's <poll.h> in builds for virtual time: see redirect.h. */
#include_next <poll.h>

#include "virtual/redirect.h"
