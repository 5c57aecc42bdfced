#include "io/channel.h"

#include <poll.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "test.h"

ABOUT("A channel");

static struct channel channel;
static struct message messages[1000];

static void open_it(void) { CHECK(channel_open(&channel)); }
static void close_it(void) { channel_close(&channel); }

static int bytes(const struct wakeup *wakeup) {
  int n = -1;
  CHECK_INT(0, ioctl(wakeup->read_fd, FIONREAD, &n));
  return n;
}

static int length(struct message *message) {
  int n = 0;
  for (; message; n++) {
    struct message *next = message->next;
    channel_done(&channel, message);
    message = next;
  }
  return n;
}

static int events(void) { return length(channel_take_events(&channel, false)); }

static int commands(void) { return length(channel_take_commands(&channel)); }

TEST("wakes the I/O thread where it sleeps, once") {
  open_it();
  CHECK(channel_sleep(&channel));
  CHECK(channel_command(&channel, &messages[0], 1));
  CHECK(channel_command(&channel, &messages[1], 1));
  CHECK(!channel_command(&channel, &messages[1], 1)); /* it is under way */
  CHECK_INT(1, bytes(&channel.io));
  CHECK_INT(2, commands());
  close_it();
}

TEST("writes no wake-up to an I/O thread that is awake, nor lets it sleep") {
  open_it();
  CHECK(channel_sleep(&channel));
  channel_wake(&channel);
  CHECK(channel_command(&channel, &messages[0], 1));
  CHECK(!channel_sleep(&channel));
  CHECK(channel_command(&channel, &messages[1], 1));
  CHECK_INT(0, bytes(&channel.io));
  CHECK_INT(2, commands());
  CHECK(channel_sleep(&channel));
  close_it();
}

TEST("tells of a turn's events at its end, by one byte") {
  open_it();
  for (int i = 0; i < 3; i++)
    CHECK(channel_event_later(&channel, &messages[i], 1));
  CHECK_INT(0, bytes(&channel.lua));
  CHECK(channel_sleep(&channel));
  CHECK_INT(1, bytes(&channel.lua));
  CHECK(channel_sleep(&channel));
  CHECK_INT(1, bytes(&channel.lua));
  CHECK_INT(3, events());
  CHECK_INT(0, bytes(&channel.lua));
  close_it();
}

TEST("keeps events while their byte is on its way") {
  char byte;
  open_it();
  channel_event(&channel, &messages[0], 1);
  CHECK_INT(1, read(channel.lua.read_fd, &byte, 1));
  CHECK_INT(0, events());
  wakeup_signal(&channel.lua);
  CHECK_INT(1, events());
  channel_event(&channel, &messages[0], 1);
  CHECK_INT(1, read(channel.lua.read_fd, &byte, 1)); /* by a host */
  CHECK_INT(1, length(channel_take_events(&channel, true)));
  CHECK_INT(0, bytes(&channel.lua));
  close_it();
}

TEST("that was redirected hands over what was told before") {
  int fds[2];
  open_it();
  CHECK_INT(0, pipe(fds));
  channel_event(&channel, &messages[0], 1);
  CHECK(channel_redirect(&channel, fds[1]));
  struct wakeup host = {fds[0], -1};
  CHECK_INT(1, bytes(&host));
  CHECK_INT(1, events());
  channel_event(&channel, &messages[0], 1);
  CHECK_INT(2, bytes(&host));
  CHECK_INT(1, events());
  close(fds[0]);
  close_it();
}

/* Two threads as they are: each sends when it likes, and sleeps when there is
 * nothing to do. */

enum { MESSAGES = sizeof messages / sizeof *messages, ROUNDS = 200 };

static void sleep_until_readable(const struct wakeup *wakeup) {
  struct pollfd p = {.fd = wakeup->read_fd, .events = POLLIN};
  CHECK_INT(1, poll(&p, 1, 20000)); /* somebody was not woken */
}

/* Sends back whatever comes. */
static void *echo(void *unused) {
  for (int heard = 0; heard < ROUNDS * MESSAGES;) {
    bool idle = channel_sleep(&channel);
    if (idle) sleep_until_readable(&channel.io);
    channel_wake(&channel);
    if (idle) wakeup_clear(&channel.io);
    struct message *message = channel_take_commands(&channel);
    while (message) {
      struct message *next = message->next;
      channel_done(&channel, message);
      CHECK(heard % 7 ? channel_event_later(&channel, message, 2)
                      : channel_event(&channel, message, 2));
      heard++;
      message = next;
    }
  }
  channel_sleep(&channel);
  return unused;
}

TEST(
    "loses no message and no wake-up, and wakes Lua's loop for nothing never") {
  pthread_t io;
  int sent = 0, heard = 0;
  open_it();
  CHECK_INT(0, pthread_create(&io, NULL, echo, NULL));
  while (heard < ROUNDS * MESSAGES) {
    for (int n = 1 + heard % 5;
         n > 0 && sent < ROUNDS * MESSAGES && sent - heard < MESSAGES; n--)
      CHECK(channel_command(&channel, &messages[sent++ % MESSAGES], 1));
    sleep_until_readable(&channel.lua);
    int came = events();
    CHECK(came > 0);
    heard += came;
  }
  pthread_join(io, NULL);
  CHECK_INT(0, bytes(&channel.lua));
  close_it();
}
