import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.curator.retry.RetryNTimes;

/**
 * A process with Apache Curator's locks. It connects to the spec on 127.0.0.1
 * and does what the lines say that it hears; it answers each with one line.
 *
 *     Contender HOSTS PORT
 */
public class Contender {
  private static final Random random = new Random();

  private final CuratorFramework client;
  private InterProcessMutex held;
  private final AtomicInteger asked = new AtomicInteger();

  private Contender(String hosts) throws Exception {
    client = CuratorFrameworkFactory.builder()
        .connectString(hosts)
        .sessionTimeoutMs(30000)
        .connectionTimeoutMs(10000)
        .retryPolicy(new RetryNTimes(5, 100))
        .build();
    client.start();
    client.blockUntilConnected();
  }

  /** The same witness that the Lua processes write to: tally.lua. */
  private static class Tally {
    private final OutputStream file;
    private final String name;

    Tally(String file, String name) throws Exception {
      this.file = new FileOutputStream(file, true);
      this.name = name;
    }

    private void write(String sign, String mode) throws Exception {
      String line = sign + " " + mode + " " + name + "\n";
      file.write(line.getBytes(StandardCharsets.UTF_8));
    }

    void enter(String mode) throws Exception { write("+", mode); }
    void leave(String mode) throws Exception { write("-", mode); }

    void stay(String mode) throws Exception {
      enter(mode);
      Thread.sleep(mode.equals("P") ? 4 : 1);
      leave(mode);
    }
  }

  private static void must(boolean acquired) {
    if (!acquired) throw new IllegalStateException("not within 30 s");
  }

  private void contendForMutex(InterProcessLock lock, Tally tally, int rounds)
      throws Exception {
    for (int i = 0; i < rounds; i++) {
      must(lock.acquire(30, TimeUnit.SECONDS));
      tally.stay("W");
      lock.release();
    }
  }

  /**
   * Never downgrades: before Curator 5.5 that lets a queued writer in beside
   * the reader (CURATOR-621), whether we are there or not.
   */
  private void contendForReadWriteLock(String path, Tally tally, int rounds)
      throws Exception {
    InterProcessReadWriteLock lock = new InterProcessReadWriteLock(client, path);
    for (int i = 0; i < rounds; i++) {
      boolean reads = random.nextBoolean();
      InterProcessLock side = reads ? lock.readLock() : lock.writeLock();
      must(side.acquire(30, TimeUnit.SECONDS));
      tally.stay(reads ? "R" : "W");
      side.release();
    }
  }

  private void contendForPermits(String path, int permits, Tally tally, int rounds)
      throws Exception {
    InterProcessSemaphoreV2 semaphore =
        new InterProcessSemaphoreV2(client, path, permits);
    for (int i = 0; i < rounds; i++) {
      Lease lease = semaphore.acquire(30, TimeUnit.SECONDS);
      must(lease != null);
      tally.stay("P");
      semaphore.returnLease(lease);
    }
  }

  private String contend(String[] words) throws Exception {
    String kind = words[1], path = words[2];
    Tally tally = new Tally(words[3], words[4]);
    int rounds = Integer.parseInt(words[5]);
    switch (kind) {
      case "mutex":
        contendForMutex(new InterProcessMutex(client, path), tally, rounds);
        break;
      case "semaphore-mutex":
        contendForMutex(new InterProcessSemaphoreMutex(client, path), tally, rounds);
        break;
      case "rwlock":
        contendForReadWriteLock(path, tally, rounds);
        break;
      case "semaphore":
        contendForPermits(path, Integer.parseInt(words[6]), tally, rounds);
        break;
      default:
        throw new IllegalArgumentException(kind);
    }
    return "done";
  }

  private String obey(String[] words) throws Exception {
    switch (words[0]) {
      case "contend":
        return contend(words);
      case "acquire":
        held = new InterProcessMutex(client, words[1]);
        return held.acquire(Long.parseLong(words[2]), TimeUnit.MILLISECONDS)
            ? "held" : "refused";
      case "release":
        held.release();
        return "released";
      case "listen":
        asked.set(0);
        held.makeRevocable(mutex -> asked.incrementAndGet());
        return "listening";
      case "asked":
        return "asked " + asked.get();
      case "revoke":
        Revoker.attemptRevoke(client, words[1]);
        return "revoked";
      case "participants":
        return String.join(" ",
            new InterProcessMutex(client, words[1]).getParticipantNodes());
      default:
        throw new IllegalArgumentException(words[0]);
    }
  }

  public static void main(String[] arguments) throws Exception {
    Contender contender = new Contender(arguments[0]);
    try (Socket socket = new Socket("127.0.0.1", Integer.parseInt(arguments[1]))) {
      socket.setTcpNoDelay(true);
      BufferedReader in = new BufferedReader(
          new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
      OutputStream out = socket.getOutputStream();
      out.write("ready\n".getBytes(StandardCharsets.UTF_8));
      for (String line; (line = in.readLine()) != null;) {
        String answer;
        try {
          answer = contender.obey(line.split(" "));
        } catch (Exception problem) {
          answer = "failed: " + problem.toString().replace('\n', ' ');
        }
        out.write((answer + "\n").getBytes(StandardCharsets.UTF_8));
      }
    }
    contender.client.close();
  }
}
