/* The simulator's command line:
 *
 *   sim [--seeds N] [--seed S] [--trace] [--stop] [--aim]
 *       [--only CLASS]... [--lock FAMILY]
 *
 * Runs the schedules of the seeds S .. S+N-1 and tells of each that violates
 * an invariant. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "world.h"

enum { ENOUGH = 10 };

struct wishes {
  uint64_t first, seeds;
  uint64_t allowed;
  int family; /* of the locks; NOBODY: any */
  bool trace, stop;
};

static struct world world;

static void usage(void) {
  fprintf(stderr,
          "usage: sim [--seeds N] [--seed S] [--trace] [--stop]"
          " [--aim] [--only CLASS]... [--lock FAMILY]\nfamilies:");
  for (int i = 0; i < FAMILY_COUNT; i++)
    fprintf(stderr, " %s", family_names[i]);
  fputs("\nclasses:", stderr);
  for (int i = 0; i < FAULTS; i++) fprintf(stderr, " %s", fault_names[i]);
  fputc('\n', stderr);
  exit(2);
}

/* Which of these it is. */
static int index_of(const char *const *names, int count, const char *name) {
  for (int i = 0; i < count; i++)
    if (strcmp(names[i], name) == 0) return i;
  usage();
  return 0;
}

static struct wishes read_wishes(int argc, char **argv) {
  struct wishes wishes = {.first = 1, .family = NOBODY};
  bool one = false;
  for (int i = 1; i < argc; i++) {
    const char *name = argv[i];
    if (strcmp(name, "--trace") == 0) {
      wishes.trace = true;
    } else if (strcmp(name, "--stop") == 0) {
      wishes.stop = true;
    } else if (strcmp(name, "--aim") == 0) {
      world.wanted_aim = true;
    } else if (i + 1 == argc) {
      usage();
    } else if (strcmp(name, "--seeds") == 0) {
      wishes.seeds = strtoull(argv[++i], NULL, 10);
    } else if (strcmp(name, "--seed") == 0) {
      wishes.first = strtoull(argv[++i], NULL, 10);
      one = true;
    } else if (strcmp(name, "--only") == 0) {
      wishes.allowed |= UINT64_C(1) << index_of(fault_names, FAULTS, argv[++i]);
    } else if (strcmp(name, "--lock") == 0) {
      wishes.family = index_of(family_names, FAMILY_COUNT, argv[++i]);
    } else {
      usage();
    }
  }
  if (!wishes.allowed) wishes.allowed = ~UINT64_C(0);
  if (!wishes.seeds) wishes.seeds = one ? 1 : 100000;
  return wishes;
}

static void print_violation(const struct wishes *wishes) {
  printf("seed %" PRIu64 ": %s\n  replay: sim --seed %" PRIu64 " --trace",
         world.seed, world.violation, world.seed);
  if (world.wanted_aim) printf(" --aim");
  if (~wishes->allowed)
    for (int i = 0; i < FAULTS; i++)
      if (wishes->allowed >> i & 1) printf(" --only %s", fault_names[i]);
  if (wishes->family != NOBODY)
    printf(" --lock %s", family_names[wishes->family]);
  putchar('\n');
}

/* An assertion of the production code has failed: in which schedule? */
static void die(int signal_number) {
  char text[80];
  int length =
      snprintf(text, sizeof text, "seed %" PRIu64 ": it died (%s)\n",
               world.seed, signal_number == SIGABRT ? "assertion" : "signal");
  if (write(STDOUT_FILENO, text, (size_t)length) < 0) _exit(2);
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

int main(int argc, char **argv) {
  struct wishes wishes = read_wishes(argc, argv);
  signal(SIGABRT, die);
  signal(SIGSEGV, die);
  uint64_t schedules = 0;
  int violations = 0;
  world.tracing = wishes.trace;
  world.wanted_family = wishes.family;
  int enough = wishes.stop ? 1 : ENOUGH;
  while (schedules < wishes.seeds && violations < enough) {
    if (!world_run(&world, wishes.first + schedules, wishes.allowed)) {
      print_violation(&wishes);
      violations++;
    }
    schedules++;
  }
  printf("sim: %" PRIu64 " schedules, %d violations\n", schedules, violations);
  return violations > 0;
}
