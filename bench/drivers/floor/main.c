// The floor of the benchmark: a driver (see bench/README.md) that asks the
// server for what a lock takes, and does nothing else.
//
//   floor [--st] [--list] HOSTS
//
//   --st     through the C client library; without it the protocol is spoken
//            by itself
//   --list   W2: one list of the queue before each grant
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loop.h"
#include "workloads.h"

// The harness reads the reason; a driver that cannot go on ends.
void die(const char *format, ...) {
  char text[256], *c;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  fprintf(stderr, "floor: %s\n", text);
  for (c = text; *c; c++)
    if (*c == ' ') *c = '_';
  printf("error text=%s\n", text);
  fflush(stdout);
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
  if (order->path[0] != '/' || order->workers < 1) {
    puts("error text=path_and_workers");
  } else if (strstr(line, " local_turns=") || strstr(line, " scheme=") ||
             !workload_start(order)) {
    puts("unsupported");
  } else {
    loop_until(now() + (double)number(line, " warm_ms=", 0) / 1000, NULL);
    begin_sample();
    puts("running");
  }
}

static void sample(void) {
  struct sample sample;
  workload_sample(&sample);
  printf("sample ops=%lu seconds=%.6f cpu_us=%.0f hist=", sample.ops,
         sample.seconds, sample.cpu_us);
  print_latencies();
  puts("");
}

static void obey(struct order *order, const char *line) {
  bool starts = strncmp(line, "start ", 6) == 0;
  if (starts == workload_runs()) {
    puts(starts ? "error text=something_runs_already"
                : "error text=nothing_runs");
  } else if (starts) {
    start(order, line);
  } else if (strcmp(line, "sample") == 0) {
    sample();
  } else if (strcmp(line, "stop") == 0) {
    workload_stop();
    puts("stopped");
  } else {
    puts("error text=no_such_command");
  }
}

int main(int argc, char **argv) {
  struct order order = {.kind = &raw_client};
  char line[1024];
  int i;
  for (i = 1; i < argc - 1; i++) {
    if (strcmp(argv[i], "--st") == 0) order.kind = &library_client;
    if (strcmp(argv[i], "--list") == 0) order.with_list = true;
  }
  if (argc < 2) die("floor [--st] [--list] HOSTS");
  order.hosts = argv[argc - 1];
  loop_begin();
  printf("driver protocol=1 name=floor-%s version=1 workloads=%s\n",
         order.kind->name, order.with_list ? "W2" : "W1,W1p,W2,W3,W4");
  fflush(stdout);
  while (loop_line(line, sizeof line) && strcmp(line, "quit") != 0) {
    obey(&order, line);
    fflush(stdout);
  }
  if (workload_runs()) workload_stop();
  return 0;
}
