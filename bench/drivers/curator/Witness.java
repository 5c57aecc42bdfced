import java.util.concurrent.atomic.AtomicInteger;

/**
 * Knows who holds the lock, and since when it is free. A holder leaves before
 * it lets the lock go, and enters once it has it: two that are in at the same
 * time prove that the lock does not exclude.
 */
class Witness {
  private static final int WRITER = -1;

  private final AtomicInteger holders = new AtomicInteger();
  private volatile long left;

  /** Returns the nanoseconds since the last holder left; -1 for the first. */
  long enter(boolean reads) {
    long now = System.nanoTime();
    boolean alone = reads ? holders.getAndIncrement() >= 0
                          : holders.compareAndSet(0, WRITER);
    if (!alone) {
      throw new IllegalStateException("two hold the lock at the same time");
    }
    return left == 0 ? -1 : now - left;
  }

  void leave(boolean reads) {
    left = System.nanoTime();
    if (reads) {
      holders.decrementAndGet();
    } else {
      holders.set(0);
    }
  }
}
