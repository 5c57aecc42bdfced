'use strict';

// A lock on node-zookeeper-client behind the protocol of bench/README.md:
// driver.js HOSTS

const readline = require('node:readline');
const { setTimeout: sleep } = require('node:timers/promises');
const zookeeper = require('node-zookeeper-client');
const { version } = require('node-zookeeper-client/package.json');
const Lock = require('./lock.js');
const Meter = require('./meter.js');

// Sessions that are opened at the same time.
const OPENERS = 16;
// The client does not always say that it is closed.
const CLOSE_MS = 5000;

/** An error of a worker, too, ends the driver; the harness shows the last line. */
function die(error) {
  console.error(error);
  console.error(String(error));
  process.exit(1);
}

function connect(hosts) {
  const client = zookeeper.createClient(hosts, { sessionTimeout: 30000 });
  return new Promise((resolve) => {
    client.once('connected', () => resolve(client));
    client.connect();
  });
}

function close(client) {
  const closed = new Promise((resolve) => client.once('disconnected', resolve));
  client.close();
  return Promise.race([closed, sleep(CLOSE_MS)]);
}

/**
 * A workload between `start` and `stop`. Every worker is a chain of callbacks,
 * every session a client with its own connection.
 */
class Run {
  constructor(words) {
    this.workload = words.workload;
    this.path = words.path;
    this.workers = Number(words.workers ?? 1);
    // Timers have milliseconds here.
    this.workMs = Number(words.work_us ?? 0) / 1e3;
    this.meter = new Meter();
    this.clients = [];
    this.busy = 0;
    this.held = false;
    this.left = null; // when the last holder released the lock
    this.stopping = false;
  }

  async start(hosts) {
    const sessions = this.workload === 'W2' ? this.workers : 1;
    while (this.clients.length < sessions) {
      const wanted = Math.min(OPENERS, sessions - this.clients.length);
      const clients = Array.from({ length: wanted }, () => connect(hosts));
      this.clients.push(...await Promise.all(clients));
    }
    for (let i = 0; i < this.workers; i++) this.begin(i);
  }

  begin(number) {
    const client = this.clients[number % this.clients.length];
    this.busy++;
    if (this.workload === 'W1' || this.workload === 'W1p') {
      this.cycle(new Lock(client, `${this.path}/${number}`));
    } else {
      this.contend(new Lock(client, this.path));
    }
  }

  cycle(lock) {
    if (this.stopping) return this.busy--;
    const began = performance.now();
    lock.acquire((error) => {
      if (error) die(error);
      const latency = performance.now() - began;
      lock.release((problem) => {
        if (problem) die(problem);
        this.meter.record(latency);
        this.cycle(lock);
      });
    });
  }

  contend(lock) {
    if (this.stopping) return this.busy--;
    lock.acquire((error) => {
      if (error) die(error);
      const now = performance.now();
      if (this.held) die(new Error('two hold the lock at the same time'));
      this.held = true;
      if (this.left !== null) this.meter.record(now - this.left);
      if (this.workMs > 0 && !this.stopping) {
        setTimeout(() => this.leave(lock), this.workMs);
      } else {
        this.leave(lock);
      }
    });
  }

  leave(lock) {
    this.held = false;
    this.left = performance.now();
    lock.release((error) => {
      if (error) die(error);
      this.contend(lock);
    });
  }

  /** Lets each worker that waits have the lock once more. */
  async stop() {
    this.stopping = true;
    while (this.busy > 0) await sleep(5);
    await Promise.all(this.clients.map(close));
  }
}

async function serve(hosts) {
  console.log(`driver name=node version=${version} workloads=W1,W1p,W2,W4`);
  let run = null;
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [command, ...words] = line.split(' ');
    if (command === 'start') {
      run = new Run(Object.fromEntries(words.map((word) => word.split('='))));
      await run.start(hosts);
      console.log('running');
    } else if (command === 'sample') {
      console.log(run.meter.sample());
    } else {
      await run.stop();
      console.log('stopped');
    }
  }
}

process.on('uncaughtException', die);
serve(process.argv[2]).then(() => process.exit(0), die);
