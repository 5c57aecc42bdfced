/* The client library alone, without zklock: asks what a lock asks, looks at no
 * answer, waits a while, and closes.  What kills this kills every client of the
 * library. */
#include <poll.h>
#include <stdio.h>
#include <sys/time.h>
#include <zookeeper/zookeeper.h>

static void on_event(zhandle_t *handle, int type, int state, const char *path,
                     void *context) {
  (void)handle, (void)type, (void)state, (void)path, (void)context;
}

static void on_created(int rc, const char *value, const struct Stat *stat,
                       const void *data) {
  (void)rc, (void)value, (void)stat, (void)data;
}

static void on_names(int rc, const struct String_vector *names,
                     const void *data) {
  (void)rc, (void)names, (void)data;
}

static void on_data(int rc, const char *value, int length,
                    const struct Stat *stat, const void *data) {
  (void)rc, (void)value, (void)length, (void)stat, (void)data;
}

static void on_both(int rc, const void *data) { (void)rc, (void)data; }

/* As an unfair lock does. */
static void ask_for_both(zhandle_t *handle) {
  static zoo_op_result_t results[2];
  static char path[100];
  zoo_op_t ops[2];
  zoo_create_op_init(&ops[0], "/lies/_c_plain-lock-", NULL, -1,
                     &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL_SEQUENTIAL, path,
                     sizeof path);
  zoo_create_op_init(&ops[1], "/lies/holder", NULL, -1, &ZOO_OPEN_ACL_UNSAFE,
                     ZOO_EPHEMERAL, NULL, 0);
  zoo_amulti(handle, 2, ops, results, on_both, NULL);
}

static void on_log(const char *message) { (void)message; }

static void ask(zhandle_t *handle) {
  zoo_acreate2(handle, "/lies/_c_plain-lock-", NULL, -1, &ZOO_OPEN_ACL_UNSAFE,
               ZOO_EPHEMERAL_SEQUENTIAL, on_created, NULL);
  ask_for_both(handle);
  zoo_awget_children(handle, "/lies", on_event, NULL, on_names, NULL);
  zoo_awget(handle, "/lies", on_event, NULL, on_data, NULL);
}

static void turn(zhandle_t *handle, int pause_ms) {
  struct pollfd p = {.fd = -1};
  struct timeval tv;
  int interest = 0;
  if (zookeeper_interest(handle, &p.fd, &interest, &tv) != ZOK) return;
  p.events = (short)((interest & ZOOKEEPER_READ ? POLLIN : 0) |
                     (interest & ZOOKEEPER_WRITE ? POLLOUT : 0));
  if (poll(&p, 1, pause_ms) <= 0) return;
  zookeeper_process(handle, (p.revents & POLLIN ? ZOOKEEPER_READ : 0) |
                                (p.revents & POLLOUT ? ZOOKEEPER_WRITE : 0));
}

int main(int argc, char **argv) {
  if (argc < 2) return 64;
  zoo_deterministic_conn_order(1);
  zhandle_t *handle = zookeeper_init2(argv[1], on_event, 2000, NULL, NULL,
                                      ZOO_NO_LOG_CLIENTENV, on_log);
  if (!handle) return 1;
  for (int i = 0; i < 100 && zoo_state(handle) != ZOO_CONNECTED_STATE; i++)
    turn(handle, 10);
  ask(handle);
  for (int i = 0; i < 60; i++) turn(handle, 10);
  zookeeper_close(handle);
  puts("lives");
  return 0;
}
