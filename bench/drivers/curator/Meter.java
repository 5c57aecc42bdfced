import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Locale;
import java.util.StringJoiner;

/** Latencies in buckets that grow by 5 %, and what they took of the CPU. */
class Meter {
  private static final double GROWTH = Math.log(1.05);
  private static final int BUCKETS = 500;  // up to 11 hours
  private static final OperatingSystemMXBean system =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private long[] counts;
  private long began, cpuBegan;

  Meter() { restart(); }

  synchronized void restart() {
    counts = new long[BUCKETS];
    began = System.nanoTime();
    cpuBegan = system.getProcessCpuTime();
  }

  void record(long nanoseconds) {
    double microseconds = Math.max(nanoseconds / 1e3, 1);
    int bucket = (int) (Math.log(microseconds) / GROWTH);
    synchronized (this) {
      counts[Math.min(bucket, BUCKETS - 1)]++;
    }
  }

  synchronized String sample() {
    StringJoiner histogram = new StringJoiner(",");
    for (int i = 0; i < BUCKETS; i++) {
      if (counts[i] == 0) continue;
      double low = Math.exp(i * GROWTH);
      histogram.add(String.format(Locale.ROOT, "%.2f:%d", low, counts[i]));
    }
    String text = String.format(Locale.ROOT,
        "sample seconds=%.6f cpu_us=%d hist=%s",
        (System.nanoTime() - began) / 1e9,
        (system.getProcessCpuTime() - cpuBegan) / 1000, histogram);
    restart();
    return text;
  }
}
