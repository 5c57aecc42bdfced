import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.Socket;
import java.util.Collection;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.leader.*;
import org.apache.curator.retry.RetryNTimes;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * A process with what Apache Curator builds on locks. It connects to the spec
 * on 127.0.0.1 and does what the lines say that it hears; it answers each with
 * one line.
 *
 *     Recipes HOSTS PORT [SESSION_S]
 */
public class Recipes {
  private final String hosts;
  private final int sessionMs;
  private CuratorFramework client;
  private Candidate candidate;
  private DistributedDoubleBarrier gate;

  private Recipes(String hosts, int sessionMs) throws Exception {
    this.hosts = hosts;
    this.sessionMs = sessionMs;
    connect();
  }

  private void connect() throws Exception {
    client = CuratorFrameworkFactory.builder()
        .connectString(hosts)
        .sessionTimeoutMs(sessionMs)
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

  // Elections.

  private interface Candidate {
    void campaign() throws Exception;
    boolean leads();
    void resign() throws Exception;
    Participant leader() throws Exception;
    Collection<Participant> participants() throws Exception;
  }

  private interface Term {
    void lead() throws Exception;
  }

  private static class Selector implements Candidate {
    private final CountDownLatch end = new CountDownLatch(1);
    private final LeaderSelector selector;

    Selector(CuratorFramework client, String path, String id) {
      selector = select(client, path, id, end::await);
    }

    static LeaderSelector select(CuratorFramework client, String path,
                                 String id, Term term) {
      LeaderSelector selector = new LeaderSelector(client, path,
          new LeaderSelectorListenerAdapter() {
            @Override
            public void takeLeadership(CuratorFramework c) throws Exception {
              term.lead();
            }
          });
      selector.setId(id);
      return selector;
    }

    public void campaign() { selector.start(); }
    public boolean leads() { return selector.hasLeadership(); }

    public void resign() {
      end.countDown();
      selector.close();
    }

    public Participant leader() throws Exception {
      return selector.getLeader();
    }

    public Collection<Participant> participants() throws Exception {
      return selector.getParticipants();
    }
  }

  private static class Latch implements Candidate {
    private final LeaderLatch latch;

    Latch(CuratorFramework client, String path, String id) {
      latch = new LeaderLatch(client, path, id);
    }

    public void campaign() throws Exception { latch.start(); }
    public boolean leads() { return latch.hasLeadership(); }
    public void resign() throws Exception { latch.close(); }
    public Participant leader() throws Exception {
      return latch.getLeader();
    }

    public Collection<Participant> participants() throws Exception {
      return latch.getParticipants();
    }
  }

  private Candidate stand(String kind, String path, String id) {
    return kind.equals("latch") ? new Latch(client, path, id)
        : new Selector(client, path, id);
  }

  private static void lead(String tally, String name) throws Exception {
    note(tally, "+", "W", name);
    Thread.sleep(1);
    note(tally, "-", "W", name);
  }

  private void leadBySelector(String path, String tally, String name,
                              int rounds) throws Exception {
    CountDownLatch left = new CountDownLatch(rounds);
    LeaderSelector selector = Selector.select(client, path, name, () -> {
      if (left.getCount() == 0) return;
      lead(tally, name);
      left.countDown();
    });
    selector.autoRequeue();
    selector.start();
    must(left.await(60, TimeUnit.SECONDS));
    selector.close();
  }

  private void leadByLatch(String path, String tally, String name,
                           int rounds) throws Exception {
    for (int i = 0; i < rounds; i++) {
      try (LeaderLatch latch = new LeaderLatch(client, path, name)) {
        latch.start();
        must(latch.await(60, TimeUnit.SECONDS));
        lead(tally, name);
      }
    }
  }

  private String contend(String kind, String path, String tally, String name,
                         int rounds) throws Exception {
    if (kind.equals("latch")) leadByLatch(path, tally, name, rounds);
    else leadBySelector(path, tally, name, rounds);
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

  private String obey(String[] words) throws Exception {
    switch (words[0]) {
      case "pid":
        return Long.toString(ProcessHandle.current().pid());
      case "renew":
        client.close();
        connect();
        return "renewed";
      case "campaign":
        candidate = stand(words[1], words[2], words[3]);
        candidate.campaign();
        return "campaigning";
      case "leads":
        return Boolean.toString(candidate.leads());
      case "resign":
        candidate.resign();
        return "resigned";
      case "leader": {
        Participant leader = stand(words[1], words[2], "asks").leader();
        return leader.isLeader() ? leader.getId() : "nobody";
      }
      case "participants":
        return stand(words[1], words[2], "asks").participants().stream()
            .map(Participant::getId).collect(Collectors.joining(" "));
      case "contend":
        return contend(words[1], words[2], words[3], words[4],
            Integer.parseInt(words[5]));
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
    int sessionS = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 30;
    Recipes recipes = new Recipes(arguments[0], sessionS * 1000);
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
          answer = recipes.obey(line.split(" "));
        } catch (Exception problem) {
          answer = "failed: " + problem.toString().replace('\n', ' ');
        }
        out.write((answer + "\n").getBytes(UTF_8));
      }
    }
    recipes.client.close();
  }
}
