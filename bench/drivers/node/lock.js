'use strict';

const zookeeper = require('node-zookeeper-client');

/**
 * ZooKeeper's recipe for a lock, which node-zookeeper-client leaves to its
 * users: a node in a queue, and a watch on the one ahead of it. Its names are as
 * short as they can be. It does not look for a node that was made although the
 * connection broke before the server could say so, as a lock for production
 * should: the bench fails then.
 */
class Lock {
  constructor(client, path) {
    this.client = client;
    this.path = path;
    this.name = null;
  }

  /** Calls back with an error, or with null once it holds the lock. */
  acquire(callback) {
    this.client.create(
      `${this.path}/lock-`,
      zookeeper.CreateMode.EPHEMERAL_SEQUENTIAL,
      (error, created) => {
        if (error && error.code === zookeeper.Exception.NO_NODE) {
          this.client.mkdirp(this.path, (problem) =>
            problem ? callback(problem) : this.acquire(callback));
        } else if (error) {
          callback(error);
        } else {
          this.name = created.slice(this.path.length + 1);
          this.look(callback);
        }
      });
  }

  /** Holds the lock if nobody is ahead; else it waits for the one who is. */
  look(callback) {
    this.client.getChildren(this.path, (error, names) => {
      if (error) return callback(error);
      // All names have the same prefix and as many digits.
      let ahead = null;
      for (const name of names) {
        if (name < this.name && (ahead === null || name > ahead)) ahead = name;
      }
      if (ahead === null) return callback(null);
      this.wait(ahead, callback);
    });
  }

  wait(ahead, callback) {
    this.client.exists(
      `${this.path}/${ahead}`,
      () => this.look(callback),
      (error, stat) => {
        if (error) {
          callback(error);
        } else if (!stat) {
          // It has gone since. Nobody makes it again: the watch stays silent.
          this.look(callback);
        }
      });
  }

  release(callback) {
    const path = `${this.path}/${this.name}`;
    this.name = null;
    this.client.remove(path, callback);
  }
}

module.exports = Lock;
