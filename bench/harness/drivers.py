"""A driver's process, and the protocol of bench/README.md with it."""
import os
import select
import time

from . import process

LONGEST_LINE = 1 << 20
GREETING_S = 120


class Failure(Exception):
    """The driver does not keep to the protocol: it is of no use any more."""


class Refusal(Exception):
    """The driver says `error` or `unsupported`, and can go on."""


class Driver:
    """One driver; it is started when it is needed, and again after a failure,
    but not for ever."""

    RESTARTS = 2

    def __init__(self, entry, hosts, log_path, patience=None):
        self.entry = entry
        self.patience = patience or float("inf")
        self.hosts = hosts
        self.log_path = log_path
        self.process = None
        self.starts = 0
        self.greeting = {}
        self.broken = None  # why it takes no part any more

    # ---- The process ----

    def ensure(self):
        """Starts it if it does not run."""
        if self.process:
            return
        if self.broken:
            raise Failure(self.broken)
        if self.starts > self.RESTARTS:
            self.broken = "it has failed too often"
            raise Failure(self.broken)
        self.starts += 1
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
        words = self._hear(GREETING_S)
        if words[0] != "driver" or words[1].get("protocol") != "1":
            raise self.fail("its first line is no greeting")
        self.greeting = words[1]

    def fail(self, why):
        """Ends the process; returns what is to be raised."""
        status = ""
        if self.process:
            code = self.process.poll()
            if code == 77:
                self.broken = f"missing: {self._last_words()}"
                why = self.broken
            elif code is not None:
                last = self._last_words()
                status = f" (exit {code}{': ' + last if last else ''})"
            self.kill()
        return Failure(why + status)

    def _last_words(self):
        try:
            with open(self.log_path, "rb") as log:
                lines = log.read()[-4000:].decode(errors="replace").split("\n")
        except OSError:
            return ""
        lines = [line.strip() for line in lines if line.strip()]
        return lines[-1][:200] if lines else ""

    def kill(self):
        if self.process:
            process.end(self.process)
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None

    def quit(self):
        """Lets it go in peace; in five seconds it is gone in any case."""
        if not self.process:
            return
        try:
            self.process.stdin.write(b"quit\n")
            self.process.stdin.close()
            process.await_true(lambda: self.process.poll() is not None, 5,
                               "it does not quit")
        except (OSError, RuntimeError):
            pass
        self.kill()

    # ---- The protocol ----

    def _read_line(self, seconds):
        seconds = min(seconds, self.patience)
        deadline = time.monotonic() + seconds
        out = self.process.stdout.fileno()
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([out], [], [], left)[0]:
                raise self.fail(f"no answer in {seconds:.0f} s")
            part = os.read(out, 65536)
            if not part:
                try:
                    self.process.wait(2)
                except Exception:  # it has closed its output, and goes on
                    pass
                raise self.fail("it has ended")
            self._buffer += part
            if len(self._buffer) > LONGEST_LINE:
                raise self.fail("an answer without an end")
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode(errors="replace")

    def _hear(self, seconds):
        words = self._read_line(seconds).split()
        if not words:
            raise self.fail("an empty answer")
        pairs = [word.partition("=") for word in words[1:]]
        return words[0], {key: value for key, _, value in pairs}

    def ask(self, command, answer, seconds):
        """Says a command, and returns the words of its answer."""
        try:
            self.process.stdin.write(command.encode() + b"\n")
        except OSError:
            try:
                self.process.wait(2)
            except Exception:
                pass
            raise self.fail("it has ended") from None
        first, words = self._hear(seconds)
        if first == "error":
            raise Refusal(words.get("text", "error").replace("_", " "))
        if first == "unsupported":
            raise Refusal("unsupported")
        if first != answer:
            raise self.fail(f"it answers {first[:40]!r}, not {answer!r}")
        return words

    def can(self, case):
        """Does it say that it can do this workload?"""
        workload = case.words.split()[0].partition("=")[2]
        return workload in self.greeting.get("workloads", "").split(",")

    def sample(self, seconds):
        """One sample as numbers; `hist` as a list of pairs."""
        words = self.ask("sample", "sample", seconds)
        try:
            hist = [pair.split(":") for pair in words["hist"].split(",") if pair]
            result = {key: float(value) for key, value in words.items()
                      if key != "hist"}
            result["hist"] = [(float(low), int(count)) for low, count in hist]
            if not (result["seconds"] > 0 and result["ops"] >= 0
                    and result["cpu_us"] >= 0):
                raise ValueError
        except (KeyError, ValueError):
            raise self.fail("its sample makes no sense") from None
        return result
