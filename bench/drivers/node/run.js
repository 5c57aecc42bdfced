'use strict';

const { promisify } = require('node:util');
const { setTimeout: sleep } = require('node:timers/promises');
const zookeeper = require('node-zookeeper-client');
const Lock = require('./lock.js');
const { Meter, Witness } = require('./meter.js');

// For sessions to open, and for workers to end; less if one has failed.
const PATIENCE_MS = 60000;
const LITTLE_PATIENCE_MS = 5000;
// Sessions that are opened at the same time.
const OPENERS = 16;

function connect(hosts) {
  const client = zookeeper.createClient(hosts, { sessionTimeout: 30000 });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      client.close();
      reject(new Error('no session in a minute'));
    }, PATIENCE_MS);
    client.once('connected', () => {
      clearTimeout(timer);
      resolve(client);
    });
    client.connect();
  });
}

/** Returns when the session is closed, or cannot be in time. */
function close(client) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, LITTLE_PATIENCE_MS);
    client.once('disconnected', () => {
      clearTimeout(timer);
      resolve();
    });
    client.close();
  });
}

/** Deletes the node at the path and all below it. */
async function remove(client, path) {
  try {
    await promisify(client.removeRecursive).call(client, path);
  } catch (error) {
    if (error.code !== zookeeper.Exception.NO_NODE) throw error;
  }
}

function count(words, key, otherwise) {
  const number = Number(words[key] ?? otherwise);
  if (!Number.isInteger(number)) throw new Error(`${key} is no number`);
  return number;
}

/**
 * A workload between `start` and `stop`. Every worker is a chain of callbacks,
 * every session a client with its own connection.
 */
class Run {
  constructor(hosts, words) {
    this.hosts = hosts;
    this.workload = words.workload;
    this.path = words.path;
    if (!this.path) throw new Error('no path');
    this.workers = count(words, 'workers', 1);
    // Timers have milliseconds here.
    this.workMs = count(words, 'work_us', 0) / 1e3;
    this.warmMs = count(words, 'warm_ms', 300);
    this.meter = new Meter();
    this.witness = new Witness();
    this.clients = [];
    this.busy = 0;
    this.stopping = false;
    this.problem = null;
  }

  async start() {
    try {
      await this.open(this.workload === 'W2' ? this.workers : 1);
      for (let i = 0; i < this.workers; i++) this.begin(i);
      await sleep(this.warmMs);
    } catch (error) {
      this.problem = error;
      await this.stop();
    }
    this.meter.restart();
  }

  async open(sessions) {
    while (this.clients.length < sessions) {
      const wanted = Math.min(OPENERS, sessions - this.clients.length);
      const clients = Array.from({ length: wanted }, () => connect(this.hosts));
      this.clients.push(...await Promise.all(clients));
    }
  }

  begin(number) {
    const client = this.clients[number % this.clients.length];
    const ownPath = this.workload === 'W1' || this.workload === 'W1p';
    this.busy++;
    if (ownPath) {
      this.cycle(new Lock(client, `${this.path}/${number}`));
    } else {
      this.contend(new Lock(client, this.path));
    }
  }

  /** A worker ends: as it is asked to, or by an error. */
  end(error) {
    this.busy--;
    if (error) {
      this.problem ??= error;
      this.stopping = true;
    }
  }

  // ---- What a worker does ----------------------------------------------------

  cycle(lock) {
    if (this.stopping) return this.end();
    const began = performance.now();
    lock.acquire((error) => {
      if (error) return this.end(error);
      const latency = performance.now() - began;
      lock.release((problem) => {
        if (problem) return this.end(problem);
        this.meter.record(latency);
        this.cycle(lock);
      });
    });
  }

  contend(lock) {
    if (this.stopping) return this.end();
    lock.acquire((error) => {
      if (error) return this.end(error);
      try {
        const latency = this.witness.enter();
        if (latency !== null) this.meter.record(latency);
      } catch (twoHold) {
        return this.end(twoHold);
      }
      if (this.workMs > 0 && !this.stopping) {
        setTimeout(() => this.leave(lock), this.workMs);
      } else {
        this.leave(lock);
      }
    });
  }

  leave(lock) {
    this.witness.leave();
    lock.release((error) => {
      if (error) return this.end(error);
      this.contend(lock);
    });
  }

  // ---- What the harness says -------------------------------------------------

  async sample() {
    if (this.problem) throw this.problem;
    return this.meter.sample();
  }

  /** Lets everyone who waits have the lock once more, then leaves. */
  async stop() {
    this.stopping = true;
    const deadline = performance.now() +
      (this.problem ? LITTLE_PATIENCE_MS : PATIENCE_MS);
    while (this.busy > 0) {
      await sleep(5);
      if (performance.now() > deadline) {
        this.problem ??= new Error('a worker waits');
        break;
      }
    }
    if (!this.problem) await remove(this.clients[0], this.path);
    await Promise.all(this.clients.map(close));
    if (this.problem) throw this.problem;
  }
}

module.exports = { Run, connect, close, remove };
