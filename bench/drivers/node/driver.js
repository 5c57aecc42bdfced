'use strict';

// A lock on node-zookeeper-client behind the protocol of bench/README.md.
//
//     driver.js HOSTS              what the harness starts
//     driver.js cold HOSTS PATH    one cold start: W6 starts it again and again

const readline = require('node:readline');
const { version } = require('node-zookeeper-client/package.json');
const { Run } = require('./run.js');
const { ColdRun, startCold } = require('./cold.js');

const WORKLOADS = ['W1', 'W1p', 'W2', 'W4', 'W6'];

class Driver {
  constructor(hosts) {
    this.hosts = hosts;
    this.run = null;
  }

  async start(words) {
    if (this.run) throw new Error('a workload is running');
    if (!words.workload) throw new Error('no workload');
    if (!WORKLOADS.includes(words.workload) || words.local_turns ||
        words.scheme) {
      return 'unsupported';
    }
    const Kind = words.workload === 'W6' ? ColdRun : Run;
    const run = new Kind(this.hosts, words);
    await run.start();
    this.run = run;
    return 'running';
  }

  async obey(line) {
    const [command, ...rest] = line.trim().split(/\s+/);
    const words = {};
    for (const word of rest) {
      const [key, ...value] = word.split('=');
      if (value.length === 0) throw new Error(`this is no key=value: ${word}`);
      words[key] = value.join('=');
    }
    if (command === 'start') return this.start(words);
    if (command !== 'sample' && command !== 'stop') {
      throw new Error(`there is no command ${command}`);
    }
    if (!this.run) throw new Error('nothing is running');
    if (command === 'sample') return this.run.sample();
    const last = this.run;
    this.run = null;
    await last.stop();
    return 'stopped';
  }
}

async function serve(hosts) {
  const driver = new Driver(hosts);
  process.stdout.write(`driver protocol=1 name=node version=${version}` +
    ` workloads=${WORKLOADS.join(',')}\n`);
  for await (const line of readline.createInterface({ input: process.stdin })) {
    if (line === 'quit') break;
    let answer;
    try {
      answer = await driver.obey(line);
    } catch (error) {
      answer = `error text=${String(error).trim().replace(/\s+/g, '_')}`;
    }
    process.stdout.write(`${answer}\n`);
  }
  if (driver.run) await driver.run.stop();
}

const [first, ...rest] = process.argv.slice(2);
(first === 'cold' ? startCold(...rest) : serve(first)).then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  });
