/* Replaces the system's header in a build for virtual time: see redirect.h. */
#include_next <stdatomic.h>

#include "virtual/redirect.h"
