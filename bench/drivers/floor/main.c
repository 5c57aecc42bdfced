// The floor of the benchmark: a driver (see bench/README.md) that asks the
// server for what a lock takes, and does nothing else.
//
//   floor [--st] HOSTS
//
//   --st     through the C client library; without it floor speaks the protocol
//            itself
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loop.h"
#include "workloads.h"

// The harness shows the last line of the error output.
void die(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("floor: ", stderr);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(1);
}

void pick_host(const char *hosts, char *host, size_t size, char *port,
               size_t port_size) {
  static size_t turn;
  size_t i, count = 1, chosen;
  const char *at, *colon, *end;
  for (at = hosts; *at; at++) count += *at == ',';
  chosen = turn++ % count;
  for (at = hosts, i = 0; i < chosen; i++) at = strchr(at, ',') + 1;
  end = at + strcspn(at, ",");
  colon = memchr(at, ':', (size_t)(end - at));
  if (!colon || (size_t)(colon - at) >= size ||
      (size_t)(end - colon) > port_size)
    die("hosts are HOST:PORT,…");
  snprintf(host, size, "%.*s", (int)(colon - at), at);
  snprintf(port, port_size, "%.*s", (int)(end - colon - 1), colon + 1);
}

static long number(const char *line, const char *key, long otherwise) {
  const char *at = strstr(line, key);
  return at ? strtol(at + strlen(key), NULL, 10) : otherwise;
}

static void word(const char *line, const char *key, char *value, size_t size) {
  const char *at = strstr(line, key);
  value[0] = 0;
  if (at) {
    at += strlen(key);
    snprintf(value, size, "%.*s", (int)strcspn(at, " "), at);
  }
}

static void start(struct order *order, const char *line) {
  word(line, " workload=", order->workload, sizeof order->workload);
  word(line, " path=", order->path, sizeof order->path);
  order->workers = number(line, " workers=", 1);
  order->work_us = number(line, " work_us=", 0);
  order->read_percent = number(line, " read_percent=", 95);
  workload_start(order);
  puts("running");
}

static void obey(struct order *order, const char *line) {
  if (strncmp(line, "start ", 6) == 0) {
    start(order, line);
  } else if (strcmp(line, "sample") == 0) {
    print_sample();
  } else if (strcmp(line, "stop") == 0) {
    workload_stop();
    puts("stopped");
  } else {
    die("no such command: %s", line);
  }
}

int main(int argc, char **argv) {
  bool st = argc == 3 && strcmp(argv[1], "--st") == 0;
  struct order order = {.kind = st ? &library_client : &raw_client};
  char line[1024];
  if (argc != 2 + st) die("floor [--st] HOSTS");
  order.hosts = argv[argc - 1];
  setvbuf(stdout, NULL, _IOLBF, 0);
  loop_begin();
  printf("driver name=floor-%s version=1 workloads=W1,W1p,W2,W3,W4\n",
         order.kind->name);
  while (loop_line(line, sizeof line)) obey(&order, line);
  return 0;
}
