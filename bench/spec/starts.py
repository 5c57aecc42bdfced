"""A signal that comes while a process is being started: it is ended, too."""
import os
import signal
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                ".."))

from harness import process  # noqa: E402


class Interrupted(Exception):
    pass


def interrupted(*_):
    process.interrupt(Interrupted())


class Start(unittest.TestCase):
    def test_is_ended_if_a_signal_comes_in_it(self):
        """It comes when there is the process, and nobody knows of it yet."""
        signal.signal(signal.SIGUSR1, interrupted)
        os.register_at_fork(after_in_parent=lambda: os.kill(
            os.getpid(), signal.SIGUSR1))
        reading, writing = os.pipe()
        with self.assertRaises(Interrupted):
            process.start(["sh", "-c", "sleep 1000 & echo; wait"],
                          stdout=writing)
        os.close(writing)
        self.assertEqual(os.read(reading, 1), b"\n")  # there are both of them
        process.end_all()
        self.assertEqual(os.read(reading, 1), b"")  # and now neither

    def test_is_not_begun_if_a_signal_has_come_in_a_finalizer(self):
        class Ends:
            def __del__(self):
                interrupted()
        sys.unraisablehook = lambda _: None
        Ends()
        sys.unraisablehook = sys.__unraisablehook__
        with self.assertRaises(Interrupted):
            process.check()

    def test_and_what_comes_later_is_not_held(self):
        with self.assertRaises(subprocess.CalledProcessError):
            process.interrupt(subprocess.CalledProcessError(1, "x"))


if __name__ == "__main__":
    unittest.main()
