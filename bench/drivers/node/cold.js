'use strict';

const { spawn } = require('node:child_process');
const { once } = require('node:events');
const { promisify } = require('node:util');
const Lock = require('./lock.js');
const { Meter } = require('./meter.js');
const { connect, close, remove } = require('./run.js');

const STARTS = 20;

/** The process that is started. */
async function startCold(hosts, path) {
  const client = await connect(hosts);
  const lock = new Lock(client, path);
  await promisify(lock.acquire).call(lock);
  process.stdout.write('held\n');
  await promisify(lock.release).call(lock);
  await close(client);
}

/** W6: each sample is some cold starts, each of a process of its own. */
class ColdRun {
  constructor(hosts, words) {
    this.hosts = hosts;
    this.path = words.path;
    if (!this.path) throw new Error('no path');
  }

  async start() {}

  async sample() {
    const meter = new Meter();
    const command = [`${__dirname}/driver.js`, 'cold', this.hosts, this.path];
    let closing = 0;
    for (let i = 0; i < STARTS; i++) {
      const began = performance.now();
      const child = spawn(process.execPath, command,
        { stdio: ['ignore', 'pipe', 'inherit'] });
      let holding = NaN;
      child.stdout.once('data', () => { holding = performance.now(); });
      const [status] = await once(child, 'close');
      if (status !== 0 || Number.isNaN(holding)) {
        throw new Error('a cold start failed');
      }
      closing += performance.now() - holding;
      meter.record(holding - began);
    }
    const mean = Math.round(closing / STARTS * 1e3);
    return `${meter.sample()} close_us=${mean}`;
  }

  async stop() {
    const client = await connect(this.hosts);
    await remove(client, this.path);
    await close(client);
  }
}

module.exports = { ColdRun, startCold };
