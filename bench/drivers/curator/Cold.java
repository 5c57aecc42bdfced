import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

/** W6: each sample is some cold starts, each of a process of its own. */
class Cold implements Task {
  private static final int STARTS = 20;

  private final String hosts, path;

  Cold(String hosts, Map<String, String> words) {
    this.hosts = hosts;
    path = words.get("path");
    if (path == null) throw new IllegalArgumentException("no path");
  }

  /** The process that is started. */
  static void start(String hosts, String path) throws Exception {
    CuratorFramework client = Run.connect(hosts);
    InterProcessMutex lock = new InterProcessMutex(client, path);
    lock.acquire();
    System.out.println("held");
    lock.release();
    client.close();
  }

  /** The command of this very process, for a cold start. */
  private ProcessBuilder command() {
    List<String> words = new ArrayList<>();
    words.add(System.getProperty("java.home") + "/bin/java");
    words.addAll(
        ManagementFactory.getRuntimeMXBean().getInputArguments());
    words.add("-cp");
    words.add(System.getProperty("java.class.path"));
    words.addAll(List.of("Driver", "cold", hosts, path));
    return new ProcessBuilder(words)
        .redirectError(ProcessBuilder.Redirect.INHERIT);
  }

  @Override
  public String sample() throws Exception {
    Meter meter = new Meter();
    ProcessBuilder command = command();
    long closing = 0;
    for (int i = 0; i < STARTS; i++) {
      long began = System.nanoTime();
      Process process = command.start();
      String line = new BufferedReader(new InputStreamReader(
          process.getInputStream(), StandardCharsets.UTF_8)).readLine();
      long holding = System.nanoTime();
      if (process.waitFor() != 0 || !"held".equals(line)) {
        throw new IllegalStateException("a cold start failed");
      }
      closing += System.nanoTime() - holding;
      meter.record(holding - began);
    }
    return meter.sample() + " close_us=" + closing / STARTS / 1000;
  }

  @Override
  public void stop() throws Exception {
    try (CuratorFramework client = Run.connect(hosts)) {
      Run.remove(client, path);
    }
  }
}
