import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * A workload between `start` and `stop`. Every worker is a thread, every
 * session a client with its own connection.
 *
 * Each thread has a lock object of its own, also where they share a client and
 * a path: those that share an object wait on its one monitor, and an event for
 * one of them wakes them all, to list the children each.
 */
class Run {
  private static final int SESSION_TIMEOUT_MS = 30000;
  private static final int CONNECTION_TIMEOUT_MS = 30000;
  // Sessions that are opened at the same time.
  private static final int OPENERS = 16;
  // And closed, which is mostly to wait for threads.
  private static final int CLOSERS = 250;

  private interface Work { void run() throws Exception; }

  final Meter meter = new Meter();
  private final String workload, path;
  private final int readPercent;
  private final long workMicros;
  private final List<CuratorFramework> clients =
      Collections.synchronizedList(new ArrayList<>());
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicBoolean held = new AtomicBoolean();
  private volatile long left;  // when the last holder released the lock
  private volatile boolean stopping;

  Run(String hosts, Map<String, String> words) throws Exception {
    workload = words.get("workload");
    path = words.get("path");
    workMicros = Long.parseLong(words.getOrDefault("work_us", "0"));
    readPercent = Integer.parseInt(words.getOrDefault("read_percent", "95"));
    int workers = Integer.parseInt(words.getOrDefault("workers", "1"));
    boolean own = workload.equals("W2") || workload.equals("W3");
    ExecutorService openers = Executors.newFixedThreadPool(OPENERS);
    for (int i = 0; i < (own ? workers : 1); i++) {
      openers.execute(ending(() -> clients.add(connect(hosts))));
    }
    await(openers);
    for (int i = 0; i < workers; i++) threads.add(new Thread(ending(work(i))));
    for (Thread thread : threads) thread.start();
  }

  /** The same; an exception ends the driver. */
  private static Runnable ending(Work work) {
    return () -> {
      try {
        work.run();
      } catch (Exception problem) {
        Driver.die(Thread.currentThread(), problem);
      }
    };
  }

  private static CuratorFramework connect(String hosts) throws Exception {
    CuratorFramework client = CuratorFrameworkFactory.newClient(hosts,
        SESSION_TIMEOUT_MS, CONNECTION_TIMEOUT_MS,
        new ExponentialBackoffRetry(100, 5));
    client.start();
    client.blockUntilConnected();
    return client;
  }

  private static void await(ExecutorService pool) throws Exception {
    pool.shutdown();
    pool.awaitTermination(1, TimeUnit.HOURS);
  }

  private Work work(int number) {
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
      long now = System.nanoTime();
      if (held.getAndSet(true)) {
        throw new IllegalStateException("two hold the lock at the same time");
      }
      if (left != 0) meter.record(now - left);
      if (workMicros > 0 && !stopping) TimeUnit.MICROSECONDS.sleep(workMicros);
      held.set(false);
      left = System.nanoTime();
      lock.release();
    }
  }

  private void readOrWrite(InterProcessReadWriteLock lock, Random random)
      throws Exception {
    while (!stopping) {
      boolean reads = random.nextInt(100) < readPercent;
      InterProcessLock side = reads ? lock.readLock() : lock.writeLock();
      long began = System.nanoTime();
      side.acquire();
      meter.record(System.nanoTime() - began);
      side.release();
    }
  }

  /** Lets each worker that waits have the lock once more. */
  void stop() throws Exception {
    stopping = true;
    for (Thread thread : threads) thread.join();
    ExecutorService closers = Executors.newFixedThreadPool(CLOSERS);
    for (CuratorFramework client : clients) closers.execute(client::close);
    await(closers);
  }
}
