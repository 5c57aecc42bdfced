#include "protocol/lease.h"

#include "test.h"

ABOUT("A lease");

#define SECOND INT64_C(1000000000)
#define T (240 * SECOND) /* (nearly all parts of it are whole) */
#define START (1000 * T)

static struct lease begun(int64_t tick) {
  struct lease lease;
  lease_init(&lease, 0, tick);
  lease_connected(&lease, START, T);
  return lease;
}

/* How far beyond the last renewal's sending it goes when renewals are sent
 * every `pace` and answered `answer` later. */
static int64_t proved(int64_t tick, int64_t pace, int64_t answer) {
  struct lease lease = begun(tick);
  int64_t sent = START;
  for (int i = 0; i < 100; i++, sent += pace)
    lease_confirm(&lease, sent, sent + answer);
  return lease.until - (sent - pace);
}

/* One row of the table in lease.h: within a thousandth of T. */
static bool proves(int64_t tick, int64_t pace, int64_t answer, int per_mille) {
  int64_t span = proved(tick, pace, answer);
  return span > T / 1000 * (per_mille - 1) && span < T / 1000 * (per_mille + 1);
}

TEST("lasts from a connection's start for the timeout less its margin") {
  struct lease lease = begun(0);
  CHECK_INT(0, lease.until); /* not before a renewal is answered */
  lease_confirm(&lease, START + SECOND, START + 2 * SECOND);
  CHECK_INT(START + T / 20 * 19, lease.until);
}

TEST("counts from the first of three renewals that are far enough apart") {
  struct lease lease = begun(0);
  int64_t q = START + SECOND, p = q + SECOND + T / 4, s = p + SECOND + T / 24;
  lease_confirm(&lease, q, q + SECOND);
  lease_confirm(&lease, p, p + SECOND);
  CHECK_INT(START + T / 20 * 19, lease.until);
  lease_confirm(&lease, s, s + SECOND);
  CHECK_INT(q + T / 20 * 19, lease.until);
}

TEST("is as long as the table says, with or without a tick that is known") {
  static const struct {
    int64_t tick, pace;
    int per_mille;
  } rows[] = {{0, T / 40 * 11 / 3, 583}, /* some T/11 */
              {T / 5, T / 15, 750},
              {T / 10, T / 40 * 3, 800},
              {T / 20, T / 15, 817}};
  CHECK(proves(0, rows[0].pace, 0, rows[0].per_mille));
  for (int i = 0; i < 4; i++) {
    struct lease lease = begun(rows[i].tick);
    CHECK_INT(rows[i].pace, lease_pace(&lease));
    CHECK(proves(rows[i].tick, rows[i].pace, T / 40, rows[i].per_mille));
  }
}

TEST("keeps what was proved through a reconnection, as far as it permits") {
  struct lease lease = begun(0);
  for (int i = 0; i < 5; i++)
    lease_confirm(&lease, START + i * T / 3, START + i * T / 3);
  int64_t until = lease.until;
  lease_connected(&lease, until - SECOND, T);
  CHECK_INT(until, lease.until);
  lease_connected(&lease, until - T / 10, T / 20); /* less was granted */
  CHECK(lease.until < until);
  CHECK_INT(until - T / 10 + T / 400 * 19, lease.until);
}

/* A hold that is granted at `now` goes on if each answer is prompt from then
 * on: with renewals as a holder sends them (pipeline.c). */
static bool is_kept(struct lease lease, int64_t now) {
  for (int64_t sent = now; sent < now + 2 * T;) {
    int64_t pause = lease_pace(&lease);
    if (sent + T / 40 >= lease.until) return false;
    lease_confirm(&lease, sent, sent + T / 40);
    if (lease.until < sent + 2 * pause) pause = T / 24;
    sent += pause;
  }
  return true;
}

#define END (START + 30 * T)

/* Renewals every `pace`; the last is sent at END, and answered after
 * `silence`. */
static struct lease silenced(int64_t tick, int64_t pace, int64_t silence) {
  struct lease lease = begun(tick);
  for (int64_t sent = END - 30 * pace; sent < END; sent += pace)
    lease_confirm(&lease, sent, sent + T / 200);
  lease_confirm(&lease, END, END + silence);
  return lease;
}

TEST("is mostly known to last after a silence, or not, before it grants") {
  static const int64_t ticks[] = {0, T / 5, T / 10, T / 20};
  static const int64_t paces[] = {T / 10 * 3, T / 6, T / 11};
  int standing = 0, lost = 0, missed = 0, needless = 0;
  for (int i = 0; i < 4 * 3 * 1000; i++) {
    int64_t pace = paces[i / 1000 % 3], silence = T / 1000 * (i % 1000);
    struct lease lease = silenced(ticks[i / 3000], pace, silence);
    int64_t now = END + silence;
    if (now >= lease.until) continue;
    bool lasts = lease_lasts(&lease, now), kept = is_kept(lease, now);
    standing++;
    lost += !kept;
    missed += lasts && !kept;
    needless += !lasts && kept;
  }
  CHECK(lost > standing / 10);
  CHECK(missed * 50 < lost);
  CHECK(needless * 8 < standing);
}
