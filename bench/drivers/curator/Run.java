import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.KeeperException;

/**
 * A workload between `start` and `stop`. Every worker is a thread, every
 * session a client with its own connection.
 *
 * Each thread has a lock object of its own, also where they share a client and
 * a path: those that share an object wait on its one monitor, and an event for
 * one of them wakes them all, to list the children each.
 */
class Run implements Task {
  private static final int SESSION_TIMEOUT_MS = 30000;
  private static final int CONNECTION_TIMEOUT_MS = 30000;
  // Sessions that are opened at the same time.
  private static final int OPENERS = 16;
  // And closed, which is mostly to wait for threads.
  private static final int CLOSERS = 250;
  // For workers to end; less if one has failed.
  private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);
  private static final long LITTLE_PATIENCE_NS = TimeUnit.SECONDS.toNanos(5);

  private interface Worker { void work() throws Exception; }

  private final String hosts, workload, path;
  private final int workers, readPercent;
  private final long workMicros;
  private final Meter meter = new Meter();
  private final Witness witness = new Witness();
  private final List<CuratorFramework> clients = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean stopping;
  private volatile Exception problem;

  Run(String hosts, Map<String, String> words) throws Exception {
    this.hosts = hosts;
    workload = words.get("workload");
    path = words.get("path");
    workers = Integer.parseInt(words.getOrDefault("workers", "1"));
    workMicros = Long.parseLong(words.getOrDefault("work_us", "0"));
    readPercent = Integer.parseInt(words.getOrDefault("read_percent", "95"));
    long warm = Long.parseLong(words.getOrDefault("warm_ms", "300"));
    if (path == null) throw new IllegalArgumentException("no path");
    try {
      boolean own = workload.equals("W2") || workload.equals("W3");
      open(own ? workers : 1);
      for (int i = 0; i < workers; i++) begin(worker(i));
      Thread.sleep(warm);
    } catch (Exception bad) {
      problem = bad;
      stop();
    }
    meter.restart();
  }

  static CuratorFramework connect(String hosts) throws Exception {
    CuratorFramework client = CuratorFrameworkFactory.newClient(hosts,
        SESSION_TIMEOUT_MS, CONNECTION_TIMEOUT_MS,
        new ExponentialBackoffRetry(100, 5));
    client.start();
    if (!client.blockUntilConnected(60, TimeUnit.SECONDS)) {
      client.close();
      throw new IllegalStateException("no connection in a minute");
    }
    return client;
  }

  /** Removes the path with whatever is below it. */
  static void remove(CuratorFramework client, String path) throws Exception {
    try {
      client.delete().deletingChildrenIfNeeded().forPath(path);
    } catch (KeeperException.NoNodeException gone) {
      // The server has removed the container, as it was empty.
    }
  }

  private void open(int count) throws Exception {
    ExecutorService openers = Executors.newFixedThreadPool(OPENERS);
    for (int i = 0; i < count; i++) {
      openers.execute(() -> {
        try {
          CuratorFramework client = connect(hosts);
          synchronized (clients) {
            clients.add(client);
          }
        } catch (Exception bad) {
          problem = bad;
        }
      });
    }
    await(openers);
    if (problem != null) throw problem;
  }

  private static void await(ExecutorService pool) throws Exception {
    pool.shutdown();
    if (!pool.awaitTermination(120, TimeUnit.SECONDS)) {
      pool.shutdownNow();
      throw new IllegalStateException("two minutes were not enough");
    }
  }

  private void begin(Worker worker) {
    Thread thread = new Thread(() -> {
      try {
        worker.work();
      } catch (Exception bad) {
        if (problem == null) problem = bad;
        stopping = true;
      }
    });
    thread.setDaemon(true);
    threads.add(thread);
    thread.start();
  }

  // ---- What a worker does ---------------------------------------------------

  private Worker worker(int number) {
    CuratorFramework client = clients.get(number % clients.size());
    switch (workload) {
      case "W2": case "W4":
        return () -> contend(new InterProcessMutex(client, path));
      case "W3":
        return () -> readOrWrite(
            new InterProcessReadWriteLock(client, path), new Random(number));
      default:
        return () -> cycle(new InterProcessMutex(client, path + "/" + number));
    }
  }

  private void cycle(InterProcessLock lock) throws Exception {
    while (!stopping) {
      long began = System.nanoTime();
      lock.acquire();
      long latency = System.nanoTime() - began;
      lock.release();
      meter.record(latency);
    }
  }

  private void contend(InterProcessLock lock) throws Exception {
    while (!stopping) {
      lock.acquire();
      try {
        long latency = witness.enter(false);
        if (latency >= 0) meter.record(latency);
        if (workMicros > 0 && !stopping) {
          TimeUnit.MICROSECONDS.sleep(workMicros);
        }
        witness.leave(false);
      } finally {
        lock.release();
      }
    }
  }

  private void readOrWrite(InterProcessReadWriteLock lock, Random random)
      throws Exception {
    while (!stopping) {
      boolean reads = random.nextInt(100) < readPercent;
      InterProcessLock side = reads ? lock.readLock() : lock.writeLock();
      long began = System.nanoTime();
      side.acquire();
      try {
        meter.record(System.nanoTime() - began);
        witness.enter(reads);
        witness.leave(reads);
      } finally {
        side.release();
      }
    }
  }

  // ---- What the harness says --------------------------------------------------

  @Override
  public String sample() throws Exception {
    if (problem != null) throw problem;
    return meter.sample();
  }

  private void removePath() {
    try {
      remove(clients.get(0), path);
    } catch (Exception bad) {
      problem = bad;
    }
  }

  /** Lets everyone who waits have the lock once more, then leaves. */
  @Override
  public void stop() throws Exception {
    stopping = true;
    long deadline = System.nanoTime()
        + (problem == null ? PATIENCE_NS : LITTLE_PATIENCE_NS);
    for (Thread thread : threads) {
      thread.join(Math.max(1, (deadline - System.nanoTime()) / 1000000));
      if (thread.isAlive()) {
        if (problem == null) problem = new Exception("a worker waits");
        break;
      }
    }
    if (problem == null) removePath();
    ExecutorService closers = Executors.newFixedThreadPool(CLOSERS);
    for (CuratorFramework client : clients) closers.execute(client::close);
    await(closers);
    if (problem != null) throw problem;
  }
}
