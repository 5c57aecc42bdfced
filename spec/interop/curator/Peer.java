import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Collection;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.leader.*;
import org.apache.curator.framework.recipes.locks.*;
import org.apache.curator.retry.RetryNTimes;
import org.apache.zookeeper.client.ConnectStringParser;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * A process with Apache Curator's locks and what it builds on them. It connects
 * to the spec on 127.0.0.1 and does what the lines say that it hears; it answers
 * each with one line.
 *
 *     Peer HOSTS PORT
 */
public class Peer {
  private final Random random = new Random();
  private final String hosts;
  private CuratorFramework client;
  private LeaderLatch latch;
  private LeaderSelector selector;
  private CountDownLatch end;
  private DistributedDoubleBarrier gate;
  private InterProcessMutex held;

  private Peer(String hosts) throws Exception {
    this.hosts = hosts;
    connect();
  }

  private void connect() throws Exception {
    client = CuratorFrameworkFactory.builder()
        .connectString(hosts)
        .sessionTimeoutMs(30000)
        .connectionTimeoutMs(10000)
        .retryPolicy(new RetryNTimes(5, 100))
        .build();
    client.start();
    client.blockUntilConnected();
  }

  /** Lines of a file that many processes append to. */
  private static void note(String file, String... words) throws Exception {
    try (OutputStream out = new FileOutputStream(file, true)) {
      out.write((String.join(" ", words) + "\n").getBytes(UTF_8));
    }
  }

  private static void must(boolean done) {
    if (!done) throw new IllegalStateException("not within 60 s");
  }

  /** The same witness that the Lua processes write to: tally.lua. */
  private static void stay(String tally, String mode, String name)
      throws Exception {
    note(tally, "+", mode, name);
    Thread.sleep(mode.equals("P") ? 4 : 1);
    note(tally, "-", mode, name);
  }

  // Locks.

  private void takeOnce(InterProcessLock lock, String tally, String mode,
                        String name) throws Exception {
    must(lock.acquire(60, TimeUnit.SECONDS));
    stay(tally, mode, name);
    lock.release();
  }

  /**
   * Never downgrades: before Curator 5.5 that lets a queued writer in beside
   * the reader (CURATOR-621), whether we are there or not.
   */
  private void takeEither(InterProcessReadWriteLock lock, String tally,
                          String name) throws Exception {
    if (random.nextBoolean()) takeOnce(lock.readLock(), tally, "R", name);
    else takeOnce(lock.writeLock(), tally, "W", name);
  }

  private void takePermit(InterProcessSemaphoreV2 semaphore, String tally,
                          String name) throws Exception {
    Lease lease = semaphore.acquire(60, TimeUnit.SECONDS);
    must(lease != null);
    stay(tally, "P", name);
    semaphore.returnLease(lease);
  }

  // Elections.

  private interface Turn {
    void take() throws Exception;
  }

  private LeaderSelector select(String path, String id, Turn turn) {
    LeaderSelector selector = new LeaderSelector(client, path,
        new LeaderSelectorListenerAdapter() {
          @Override
          public void takeLeadership(CuratorFramework c) throws Exception {
            turn.take();
          }
        });
    selector.setId(id);
    return selector;
  }

  private void campaign(String kind, String path, String id) throws Exception {
    if (kind.equals("latch")) {
      latch = new LeaderLatch(client, path, id);
      latch.start();
    } else {
      end = new CountDownLatch(1);
      selector = select(path, id, end::await);
      selector.start();
    }
  }

  private boolean leads() {
    return latch != null ? latch.hasLeadership() : selector.hasLeadership();
  }

  private void resign() throws Exception {
    if (latch != null) {
      latch.close();
      latch = null;
    } else {
      end.countDown();
      selector.close();
    }
  }

  private Participant leader(String kind, String path) throws Exception {
    return kind.equals("latch")
        ? new LeaderLatch(client, path, "asks").getLeader()
        : select(path, "asks", () -> { }).getLeader();
  }

  private Collection<Participant> participants(String kind, String path)
      throws Exception {
    return kind.equals("latch")
        ? new LeaderLatch(client, path, "asks").getParticipants()
        : select(path, "asks", () -> { }).getParticipants();
  }

  private void leadBySelector(String path, String tally, String name,
                              int rounds) throws Exception {
    CountDownLatch left = new CountDownLatch(rounds);
    LeaderSelector selector = select(path, name, () -> {
      if (left.getCount() == 0) return;
      stay(tally, "W", name);
      left.countDown();
    });
    selector.autoRequeue();
    selector.start();
    must(left.await(60, TimeUnit.SECONDS));
    selector.close();
  }

  private void leadByLatch(String path, String tally, String name)
      throws Exception {
    try (LeaderLatch latch = new LeaderLatch(client, path, name)) {
      latch.start();
      must(latch.await(60, TimeUnit.SECONDS));
      stay(tally, "W", name);
    }
  }

  private Turn turn(String kind, String path, String tally, String name,
                    String[] words) {
    switch (kind) {
      case "mutex": {
        InterProcessLock lock = new InterProcessMutex(client, path);
        return () -> takeOnce(lock, tally, "W", name);
      }
      case "semaphore-mutex": {
        InterProcessLock lock = new InterProcessSemaphoreMutex(client, path);
        return () -> takeOnce(lock, tally, "W", name);
      }
      case "rwlock": {
        InterProcessReadWriteLock lock =
            new InterProcessReadWriteLock(client, path);
        return () -> takeEither(lock, tally, name);
      }
      case "semaphore": {
        InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(
            client, path, Integer.parseInt(words[6]));
        return () -> takePermit(semaphore, tally, name);
      }
      case "latch":
        return () -> leadByLatch(path, tally, name);
      default:
        throw new IllegalArgumentException(kind);
    }
  }

  private String contend(String[] words) throws Exception {
    String kind = words[1], path = words[2], tally = words[3], name = words[4];
    int rounds = Integer.parseInt(words[5]);
    if (kind.equals("selector")) {
      leadBySelector(path, tally, name, rounds);
    } else {
      Turn turn = turn(kind, path, tally, name, words);
      for (int i = 0; i < rounds; i++) turn.take();
    }
    return "done";
  }

  // The double barrier.

  /**
   * Waits until Curator has heard what ZooKeeper had told it by now. Whoever
   * makes `ready` is told of it, and if it leaves before it has heard that, it
   * may be out before the others have begun to leave: among Curator's, too.
   */
  private void settle() throws Exception {
    CountDownLatch heard = new CountDownLatch(1);
    client.checkExists().inBackground((c, event) -> heard.countDown())
        .forPath("/");
    heard.await();
    client.runSafe(() -> { }).get();
  }

  private String enter(String path, int n, String ledger, String name, long ms)
      throws Exception {
    gate = new DistributedDoubleBarrier(client, path, n);
    note(ledger, "come", name);
    if (!gate.enter(ms, TimeUnit.MILLISECONDS)) return "late";
    note(ledger, "in", name);
    settle();
    return "in";
  }

  private String leave(String ledger, String name, long ms) throws Exception {
    note(ledger, "go", name);
    if (!gate.leave(ms, TimeUnit.MILLISECONDS)) return "late";
    note(ledger, "out", name);
    return "out";
  }

  /** What Java's client reads of a text of hosts. */
  private static String read(String text) {
    ConnectStringParser parser = new ConnectStringParser(text);
    StringBuilder words = new StringBuilder();
    for (InetSocketAddress address : parser.getServerAddresses()) {
      words.append(address.getHostString()).append(' ')
          .append(address.getPort()).append('|');
    }
    String chroot = parser.getChrootPath();
    return words.append(chroot == null ? "" : chroot).toString();
  }

  private String obey(String[] words) throws Exception {
    switch (words[0]) {
      case "reads":
        return read(words[1]);
      case "renew":
        client.close();
        connect();
        return "renewed";
      case "campaign":
        campaign(words[1], words[2], words[3]);
        return "campaigning";
      case "leads":
        return Boolean.toString(leads());
      case "resign":
        resign();
        return "resigned";
      case "leader": {
        Participant leader = leader(words[1], words[2]);
        return leader.isLeader() ? leader.getId() : "nobody";
      }
      case "participants":
        return participants(words[1], words[2]).stream()
            .map(Participant::getId).collect(Collectors.joining(" "));
      case "contend":
        return contend(words);
      case "acquire":
        held = new InterProcessMutex(client, words[1]);
        return held.acquire(Long.parseLong(words[2]), TimeUnit.MILLISECONDS)
            ? "held" : "refused";
      case "release":
        held.release();
        return "released";
      case "revoke":
        Revoker.attemptRevoke(client, words[1]);
        return "revoked";
      case "nodes":
        return String.join(" ",
            new InterProcessMutex(client, words[1]).getParticipantNodes());
      case "set":
        new DistributedBarrier(client, words[1]).setBarrier();
        return "set";
      case "lift":
        new DistributedBarrier(client, words[1]).removeBarrier();
        return "lifted";
      case "wait":
        return new DistributedBarrier(client, words[1])
            .waitOnBarrier(Long.parseLong(words[2]), TimeUnit.MILLISECONDS)
            ? "passed" : "refused";
      case "enter":
        return enter(words[1], Integer.parseInt(words[2]), words[3], words[4],
            Long.parseLong(words[5]));
      case "leave":
        return leave(words[1], words[2], Long.parseLong(words[3]));
      default:
        throw new IllegalArgumentException(words[0]);
    }
  }

  public static void main(String[] arguments) throws Exception {
    Peer peer = new Peer(arguments[0]);
    int port = Integer.parseInt(arguments[1]);
    try (Socket socket = new Socket("127.0.0.1", port)) {
      socket.setTcpNoDelay(true);
      BufferedReader in = new BufferedReader(
          new InputStreamReader(socket.getInputStream(), UTF_8));
      OutputStream out = socket.getOutputStream();
      out.write("ready\n".getBytes(UTF_8));
      for (String line; (line = in.readLine()) != null;) {
        String answer;
        try {
          answer = peer.obey(line.split(" "));
        } catch (Exception problem) {
          answer = "failed: " + problem.toString().replace('\n', ' ');
        }
        out.write((answer + "\n").getBytes(UTF_8));
      }
    }
    peer.client.close();
  }
}
