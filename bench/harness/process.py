"""Processes that end with us, whatever happens."""
import ctypes
import os
import signal
import subprocess
import time

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def _end_with_parent():
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def start(command, **options):
    """Starts a process in a group of its own, out of reach of Ctrl-C, which the
    kernel kills if we are killed."""
    return subprocess.Popen(command, start_new_session=True,
                            preexec_fn=_end_with_parent, **options)


def end(process):
    """Kills it and what it has started, as far as that is in its group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


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
