import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Curator's locks behind the protocol of bench/README.md.
 *
 *     Driver VERSION HOSTS        what the harness starts
 *     Driver cold HOSTS PATH      one cold start: W6 starts it again and again
 */
public class Driver {
  private static final List<String> WORKLOADS =
      List.of("W1", "W1p", "W2", "W3", "W4", "W6");

  private final String hosts;
  private Task task;

  private Driver(String hosts) { this.hosts = hosts; }

  private String start(Map<String, String> words) throws Exception {
    if (task != null) throw new IllegalStateException("a workload is running");
    if (!words.containsKey("workload")) {
      throw new IllegalArgumentException("no workload");
    }
    String workload = words.get("workload");
    if (!WORKLOADS.contains(workload) || words.containsKey("local_turns")
        || words.containsKey("scheme")) {
      return "unsupported";
    }
    task = workload.equals("W6") ? new Cold(hosts, words)
                                 : new Run(hosts, words);
    return "running";
  }

  private String obey(String[] words) throws Exception {
    Map<String, String> options = new HashMap<>();
    for (int i = 1; i < words.length; i++) {
      String[] parts = words[i].split("=", 2);
      if (parts.length < 2) throw new IllegalArgumentException(words[i]);
      options.put(parts[0], parts[1]);
    }
    if (words[0].equals("start")) return start(options);
    if (!words[0].equals("sample") && !words[0].equals("stop")) {
      throw new IllegalArgumentException("there is no command " + words[0]);
    }
    if (task == null) throw new IllegalStateException("nothing is running");
    if (words[0].equals("sample")) return task.sample();
    Task last = task;
    task = null;
    last.stop();
    return "stopped";
  }

  private void serve() throws Exception {
    BufferedReader in = new BufferedReader(
        new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = in.readLine()) != null;) {
      if (line.equals("quit")) break;
      String answer;
      try {
        answer = obey(line.trim().split("\\s+"));
      } catch (Exception problem) {
        answer = "error text=" + problem.toString().replaceAll("\\s+", "_");
      }
      System.out.println(answer);
    }
    if (task != null) task.stop();
  }

  public static void main(String[] arguments) throws Exception {
    if (arguments[0].equals("cold")) {
      Cold.start(arguments[1], arguments[2]);
      return;
    }
    System.out.println("driver protocol=1 name=curator version=" + arguments[0]
        + " workloads=" + String.join(",", WORKLOADS));
    new Driver(arguments[1]).serve();
    System.exit(0);
  }
}
