"""Processes that end with us, whatever happens."""
import contextlib
import ctypes
import os
import signal
import subprocess
import time

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)
_running = []


class _Interruption:
    """What a signal has interrupted us with, while that has to wait."""
    held = False
    error = None
    seen = None

    @contextlib.contextmanager
    def hold(self):
        self.held = True
        try:
            yield
        finally:
            self.held = False
            if self.error:
                raise self.error


_interruption = _Interruption()


def interrupt(error):
    """For a signal's handler: raises it; but if a process is being started, not
    before it is known, and can be ended."""
    _interruption.seen = error
    if not _interruption.held:
        raise error
    _interruption.error = error


def check():
    """Raises it once more: Python ignores what is raised in a finalizer."""
    if _interruption.seen:
        raise _interruption.seen


def _end_with_parent():
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def start(command, **options):
    """Starts a process in a group of its own, out of reach of Ctrl-C, which the
    kernel kills if we are killed."""
    with _interruption.hold():
        process = subprocess.Popen(command, start_new_session=True,
                                   preexec_fn=_end_with_parent, **options)
        _running.append(process)
    return process


def end(process):
    """Kills it and what it has started, as far as that is in its group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
    if process in _running:
        _running.remove(process)


def end_all():
    """The same with those that somebody has been interrupted over."""
    while _running:
        end(_running[-1])


def cpu_us(pid):
    """What a process has used, in user and system mode, all its threads."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        words = file.read().rpartition(")")[2].split()
    ticks = int(words[11]) + int(words[12])
    return ticks * 1e6 / os.sysconf("SC_CLK_TCK")


def await_true(condition, seconds, what):
    """Waits until the condition is true."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what}, even after {seconds} s")
        time.sleep(0.02)
