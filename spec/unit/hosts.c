#include "io/hosts.h"

#include <stdio.h>
#include <string.h>

#include "memory.h"
#include "test.h"

ABOUT("A session's hosts");

static char error[300];

/* "name port|name port|chroot", or what is wrong. */
static const char *parsed(const char *text) {
  static char result[600];
  struct hosts hosts;
  result[0] = '\0';
  if (!hosts_parse(&hosts, text, error, sizeof error)) {
    free(hosts.list);
    return error;
  }
  for (int i = 0; i < hosts.count; i++)
    sprintf(result + strlen(result), "%s %s|", hosts.list[i].name,
            hosts.list[i].port);
  strcat(result, hosts.chroot);
  free(hosts.list);
  return result;
}

TEST("are read with their ports and chroot") {
  CHECK_TEXT("a 2181|", parsed("a"));
  CHECK_TEXT("a 1|::1 2181|b 65535|/app/locks",
             parsed("a:1,[::1],b:65535/app/locks"));
}

TEST("are refused with the element, the fault, and what to write") {
  static const char *const rows[][2] = {
      {"a,,b",
       "has an empty element (element 2 of 'a,,b'): write it as "
       "'zk1:2181,zk2:2181/app'"},
      {"a/b,c/b",
       "has a chroot that is not behind the last host, in 'a/b,c/b': write it "
       "as 'zk1:2181,zk2:2181/app'"},
      {"a,b\n",
       "has a blank or a line break (element 2 of 'a,b?'): write it as "
       "'zk1:2181,zk2:2181/app'"},
      {"a:secret@b",
       "has a '@' (credentials go into the option 'auth') (element 1 of "
       "'***'): write it as 'zk1:2181,zk2:2181/app'"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    CHECK_TEXT(rows[i][1], parsed(rows[i][0]));
}

TEST("are refused without a reason where there is no memory") {
  memory_refuse(1);
  CHECK_TEXT("", parsed("a"));
}

static bool is_path(const char *path) {
  return path_fault(path, strlen(path)) == NULL;
}

TEST("have a chroot that is a path as ZooKeeper takes it") {
  char path[PATH_MAX_BYTES + 2];
  CHECK(is_path("/a"));
  CHECK(is_path("/a/b.c/.d/..e"));
  CHECK(is_path("/\xc3\xa4"));
  CHECK(!is_path(""));
  CHECK(!is_path("a"));
  CHECK(!is_path("/"));
  CHECK(!is_path("/a/"));
  CHECK(!is_path("//a"));
  CHECK(!is_path("/a/./b"));
  CHECK(!is_path("/a/.."));
  CHECK(!is_path("/\x01"));
  CHECK(!is_path("/\x7f"));
  CHECK(!is_path("/\xc2\x80"));         /* a control character */
  CHECK(!is_path("/\xee\x80\x80"));     /* a private one */
  CHECK(!is_path("/\xed\xa0\x80"));     /* half of a pair */
  CHECK(!is_path("/\xef\xbf\xbf"));     /* none at all */
  CHECK(!is_path("/\xc0\xaf"));         /* two bytes where one would do */
  CHECK(!is_path("/\xe4"));             /* a beginning without an end */
  CHECK(!is_path("/\xf0\x9f\x94\x92")); /* beyond 16 bits */
  CHECK(path_fault("/a\0b", 4) != NULL);
  memset(path, 'x', sizeof path);
  path[0] = '/';
  CHECK(!path_fault(path, PATH_MAX_BYTES));
  CHECK(path_fault(path, PATH_MAX_BYTES + 1) != NULL);
}
