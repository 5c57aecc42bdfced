"""Processes that end with the harness, however it ends."""
import contextlib
import ctypes
import os
import signal
import subprocess

SIGNALS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)
_running = []


def _interrupt(number, _):
    raise SystemExit(128 + number)


def end_on_signals():
    """A signal raises SystemExit in the main thread."""
    for one in SIGNALS:
        signal.signal(one, _interrupt)


@contextlib.contextmanager
def undisturbed():
    """Signals wait until the block has ended."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with_parent():
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def start(command, **options):
    """Starts a process in a group of its own, which Ctrl-C does not reach. The
    kernel kills the process if the harness dies."""
    process = subprocess.Popen(command, start_new_session=True,
                               preexec_fn=_end_with_parent, **options)
    _running.append(process)
    return process


def end(process):
    """Kills the process and its group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
    if process in _running:
        _running.remove(process)


def end_all():
    while _running:
        end(_running[-1])


def cpu_us(pid):
    """The time that all threads of a process have used, in user and system
    mode."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        words = file.read().rpartition(")")[2].split()
    ticks = int(words[11]) + int(words[12])
    return ticks * 1e6 / os.sysconf("SC_CLK_TCK")


def wait(process, seconds):
    """Waits for its end for so long at most."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
