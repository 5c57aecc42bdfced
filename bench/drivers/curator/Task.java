/** What goes on between `start` and `stop`. */
interface Task {
  String sample() throws Exception;
  void stop() throws Exception;
}
