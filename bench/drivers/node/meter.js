'use strict';

const GROWTH = Math.log(1.05);
const BUCKETS = 500; // up to 11 hours

/** Latencies in buckets that grow by 5 %, and what they took of the CPU. */
class Meter {
  constructor() {
    this.restart();
  }

  restart() {
    this.counts = new Uint32Array(BUCKETS);
    this.began = performance.now();
    this.cpuBegan = process.cpuUsage();
  }

  record(milliseconds) {
    const microseconds = Math.max(milliseconds * 1e3, 1);
    const bucket = Math.floor(Math.log(microseconds) / GROWTH);
    this.counts[Math.min(bucket, BUCKETS - 1)]++;
  }

  sample() {
    const seconds = (performance.now() - this.began) / 1e3;
    const cpu = process.cpuUsage(this.cpuBegan);
    const pairs = [];
    this.counts.forEach((count, bucket) => {
      if (count === 0) return;
      pairs.push(`${Math.exp(bucket * GROWTH).toFixed(2)}:${count}`);
    });
    const text = `sample seconds=${seconds.toFixed(6)}` +
      ` cpu_us=${cpu.user + cpu.system} hist=${pairs.join(',')}`;
    this.restart();
    return text;
  }
}

module.exports = Meter;
