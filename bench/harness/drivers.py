"""A driver's process, and the protocol of bench/README.md with it."""
import contextlib
import os
import select
import time

from . import process

LONGEST_LINE = 1 << 20
# A driver may build itself before its first line.
GREETING_S = 600
FAILURES = 3  # in succession: then the driver is not started again


class Failure(Exception):
    """The driver does not keep to the protocol; its process has been killed."""


class Driver:
    """A driver, which is started when it is needed, also after a failure."""

    def __init__(self, entry, hosts, log_path, patience=None):
        self.entry = entry
        self.patience = patience or float("inf")
        self.hosts = hosts
        self.log_path = log_path
        self.process = None
        self.failures = 0
        self.greeting = {}
        self.broken = None  # why it is not started again

    # ---- The process ----

    def ensure(self):
        """Starts it if it does not run."""
        if self.process:
            return
        if self.broken:
            raise Failure(self.broken)
        self._buffer = b""
        with open(self.log_path, "ab") as log:
            try:
                self.process = process.start(
                    self.entry.command + [self.hosts], stdin=-1, stdout=-1,
                    stderr=log, bufsize=0)
            except OSError as error:
                self.broken = f"it cannot be started: {error.strerror}"
                raise Failure(self.broken) from None
        os.set_blocking(self.process.stdout.fileno(), False)
        first, self.greeting = self._hear(GREETING_S)
        if first != "driver":
            raise self.fail("its first line is no greeting")

    def fail(self, why):
        """Kills the process; returns the exception to raise."""
        code = self.process.poll()
        if code == 77:
            why = self.broken = f"missing: {self._last_words()}"
        elif code is not None:
            last = self._last_words()
            why += f" (exit {code}{': ' + last if last else ''})"
        self.kill()
        self.failures += 1
        if self.failures == FAILURES:
            self.broken = self.broken or f"it has failed too often: {why}"
        return Failure(why)

    def _last_words(self):
        with open(self.log_path, "rb") as log:
            lines = log.read()[-4000:].decode(errors="replace").split("\n")
        lines = [line.strip() for line in lines if line.strip()]
        return lines[-1][:200] if lines else ""

    def kill(self):
        if self.process:
            process.end(self.process)
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None

    def quit(self):
        """Ends its input, which lets it exit; after five seconds kills it."""
        if self.process:
            self.process.stdin.close()
            process.wait(self.process, 5)
            self.kill()

    # ---- The protocol ----

    def _read_line(self, seconds):
        deadline = time.monotonic() + seconds
        out = self.process.stdout.fileno()
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([out], [], [], left)[0]:
                raise self.fail(f"no answer in {seconds:.0f} s")
            part = os.read(out, 65536)
            if not part:
                process.wait(self.process, 2)
                raise self.fail("it has ended")
            self._buffer += part
            if len(self._buffer) > LONGEST_LINE:
                raise self.fail("an answer without an end")
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode(errors="replace")

    def _hear(self, seconds):
        first, *words = self._read_line(seconds).split() or [""]
        pairs = [word.partition("=") for word in words]
        return first, {key: value for key, _, value in pairs}

    def ask(self, command, answer, seconds):
        """Sends a command, and returns the words of its answer."""
        # (If the process has ended, the missing answer shows it.)
        with contextlib.suppress(OSError):
            self.process.stdin.write(command.encode() + b"\n")
        first, words = self._hear(min(seconds, self.patience))
        if first != answer:
            raise self.fail(f"it answers {first[:40]!r}, not {answer!r}")
        return words

    def can(self, case):
        """True if its greeting names the workload."""
        workload = case.words.split()[0].partition("=")[2]
        return workload in self.greeting.get("workloads", "").split(",")

    def sample(self, seconds):
        """One sample as numbers; `hist` as a list of pairs."""
        words = self.ask("sample", "sample", seconds)
        try:
            hist = [pair.split(":")
                    for pair in words.pop("hist").split(",") if pair]
            result = {key: float(value) for key, value in words.items()}
            result["hist"] = [(float(low), int(count)) for low, count in hist]
            result.setdefault("ops", sum(count for _, count in result["hist"]))
            if not (result["seconds"] > 0 and result["cpu_us"] >= 0):
                raise ValueError
        except (KeyError, ValueError):
            raise self.fail("its sample makes no sense") from None
        return result
