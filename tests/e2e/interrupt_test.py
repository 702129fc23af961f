#!/usr/bin/env python3
"""Ctrl-C ends the demo at any moment, and leaves nothing behind: no process, no port, no file."""

import ctypes
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import programs
import suite

HERE = Path(__file__).resolve().parent
PR_SET_CHILD_SUBREAPER = 36
# The demo itself, except for its model, which learns faster here, and for the intervals of its reports and kills.
QUICK_DEMO = """
import sys, chaos, demo, swarm_case, text, view
demo.run_settings = lambda options: swarm_case.SETTINGS
text.load_corpus = lambda corpus=swarm_case.small_corpus(): corpus
view.PLAIN_EVERY_S = 0
chaos.KILL_EVERY_S = 2
sys.exit(demo.main())
"""


def descendants(ancestor):
    """The living descendants of this process, as {pid: name}."""
    everybody = {pid: (name, parent) for pid, name, parent, _ in programs.processes()}

    def comes_from(pid):
        while pid in everybody and pid != ancestor:
            pid = everybody[pid][1]
        return pid == ancestor

    return {pid: name for pid, (name, _) in everybody.items() if pid != ancestor and comes_from(pid)}


class RunningDemo:
    """Runs in a process group of its own, as a shell starts it."""

    def __init__(self, *command):
        self.folder = tempfile.TemporaryDirectory(prefix="starling-e2e-")
        self.process = subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True, start_new_session=True, cwd=HERE,
                                        env={**os.environ, "TMPDIR": self.folder.name, "PYTHONUNBUFFERED": "1",
                                             "PYTHONFAULTHANDLER": "1"})
        self.output = ""
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.output += line

    def pids(self, program):
        """Those of its processes that run the program."""
        short = program[:15]  # the kernel keeps this much of a name
        return [pid for pid, name in descendants(self.process.pid).items() if name == short]

    def interrupt(self):
        """Sends Ctrl-C. Returns the exit status and the seconds until the end."""
        began = time.monotonic()
        os.killpg(self.process.pid, signal.SIGINT)
        try:
            status = self.process.wait(programs.EVENT_WITHIN_S)
        except subprocess.TimeoutExpired:
            left = descendants(self.process.pid)
            self.process.send_signal(signal.SIGABRT)  # Python's fault handler reports where each thread stands
            self.reader.join()
            raise AssertionError(f"the demo did not end; below it: {left}\n{self.output}") from None
        took = time.monotonic() - began
        self.reader.join()
        return status, took

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stdout.close()
        self.folder.cleanup()


class CtrlC(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Orphans become children of this process, so that they can be found.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)

    def start(self, *command):
        demo = RunningDemo(*command)
        self.addCleanup(demo.close)
        return demo

    def wait(self, demo, condition, what):
        def ready():
            self.assertIsNone(demo.process.poll(), f"the demo ended before {what}:\n{demo.output}")
            return condition()

        programs.wait_until(ready, what)

    def assert_ends_without_trace(self, demo):
        status, took = demo.interrupt()
        self.assertEqual(status, 130, demo.output)
        self.assertIn("interrupted: every process of the demo has ended", demo.output)
        self.assertNotIn("Traceback", demo.output)
        # A child that was being made when its daemon ended dies of that, a moment later.
        programs.wait_until(lambda: not descendants(os.getpid()), "nothing of it is left")
        self.assertLess(took, programs.STOP_TIMEOUT_S, "it had to use force")
        self.assertEqual(os.listdir(demo.folder.name), [])
        for port in re.findall(r"https://127\.0\.0\.1:(\d+)/", demo.output):
            with self.assertRaises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", int(port)), timeout=5).close()

    def test_while_its_programs_start(self):
        for program in ("starling-coordinator", "starlingd", "starling-trainer"):
            with self.subTest(program):
                demo = self.start("demo.py", "--minutes", "1")
                self.wait(demo, lambda: demo.pids(program), f"{program} starts")
                self.assert_ends_without_trace(demo)

    def test_while_the_trainers_hang(self):
        demo = self.start("demo.py", "--minutes", "1")
        self.wait(demo, lambda: len(demo.pids("starling-trainer")) == 3, "all trainers start")
        for trainer in demo.pids("starling-trainer"):
            os.kill(trainer, signal.SIGSTOP)
        self.assert_ends_without_trace(demo)

    def test_in_the_middle_of_rounds(self):
        demo = self.start("-c", QUICK_DEMO, "--minutes", "1")
        self.wait(demo, lambda: re.search(r"round +[1-9]", demo.output), "a round is complete")
        self.assert_ends_without_trace(demo)

    def test_while_chaos_starts_a_volunteer_again(self):
        demo = self.start("-c", QUICK_DEMO, "--minutes", "1", "--chaos")
        self.wait(demo, lambda: len(demo.pids("starlingd")) == 3, "all volunteers start")
        self.wait(demo, lambda: len(demo.pids("starlingd")) == 2, "one is killed")
        self.wait(demo, lambda: len(demo.pids("starlingd")) == 3, "it is started again")
        self.assert_ends_without_trace(demo)


if __name__ == "__main__":
    suite.main()
