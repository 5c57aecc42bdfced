/* Words for ZooKeeper's reply codes, and for our own reasons beside them. */
#ifndef ZKLOCK_REASON_H
#define ZKLOCK_REASON_H

#pragma GCC visibility push(hidden)

const char *reason_words(int rc);

#pragma GCC visibility pop

#endif
