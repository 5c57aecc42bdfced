/* Wraps the system's <stdatomic.h> in builds for virtual time: see
 * redirect.h. */
#include_next <stdatomic.h>

#include "virtual/redirect.h"
