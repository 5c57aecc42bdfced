import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;

/** Curator's locks behind the protocol of bench/README.md: Driver VERSION HOSTS. */
public class Driver {
  /** An error of a worker, too, ends the driver; the harness shows the last line. */
  static void die(Thread thread, Throwable problem) {
    problem.printStackTrace();
    System.err.println(problem);
    Runtime.getRuntime().halt(1);
  }

  private static Map<String, String> parse(String[] words) {
    Map<String, String> options = new HashMap<>();
    for (int i = 1; i < words.length; i++) {
      String[] parts = words[i].split("=", 2);
      options.put(parts[0], parts[1]);
    }
    return options;
  }

  public static void main(String[] arguments) throws Exception {
    Thread.setDefaultUncaughtExceptionHandler(Driver::die);
    System.out.println("driver name=curator version=" + arguments[0]
        + " workloads=W1,W1p,W2,W3,W4");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    Run run = null;
    for (String line; (line = in.readLine()) != null;) {
      String[] words = line.split(" ");
      if (words[0].equals("start")) {
        run = new Run(arguments[1], parse(words));
        System.out.println("running");
      } else if (words[0].equals("sample")) {
        System.out.println(run.meter.sample());
      } else {
        run.stop();
        System.out.println("stopped");
      }
    }
    System.exit(0);
  }
}
