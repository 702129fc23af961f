"""A small run trained by real processes, for tests to act on: their common start and queries."""

import os
import shutil
import tempfile
import unittest
from pathlib import Path

import programs
import results
import text
from swarm import Swarm

RUN_ID = "small"
SETTINGS = {
    "run_id": RUN_ID,
    "title": "A small run",
    "target_batch_size": 256,
    "micro_batch_size": 8,
    "model": {"layers": 2, "width": 64, "heads": 2, "context": 64},
    "schedule": {"warmup_rounds": 5, "total_rounds": 2000},
}
# Takes a quarter of the time per sample, for rounds with many samples.
LITTLE_MODEL = {"layers": 2, "width": 32, "heads": 2, "context": 32}
TRAIN_BYTES = 200_000
HELD_OUT_BYTES = 4_000


def small_corpus(train_bytes=TRAIN_BYTES, held_out_bytes=HELD_OUT_BYTES):
    corpus = text.load_corpus()
    again = -(-train_bytes // len(corpus.train))
    return text.Corpus((again * corpus.train)[:train_bytes], corpus.held_out[:held_out_bytes])


class SwarmCase(unittest.TestCase):
    """One swarm for all tests of a class, in a fixed order: each test leaves the swarm whole."""

    VOLUNTEERS = 3
    HOST = "127.0.0.1"
    SETTINGS = {}  # in addition to those above
    TRAIN_BYTES = TRAIN_BYTES
    HELD_OUT_BYTES = HELD_OUT_BYTES

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="starling-e2e-"))
        if "STARLING_KEEP" not in os.environ:  # keep them for inspection
            cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        # Threads that wait for each other in every small step come almost to a stand on a busy machine.
        cls.swarm = Swarm(cls.folder, cls.VOLUNTEERS, cls.HOST, threads=1)
        cls.prepare()
        cls.addClassCleanup(cls.swarm.stop)
        cls.swarm.create("End to end", {**SETTINGS, **cls.SETTINGS}, small_corpus(cls.TRAIN_BYTES, cls.HELD_OUT_BYTES))

    @classmethod
    def prepare(cls):
        """A hook for changes that a class makes before anything starts."""

    def failed(self):
        """Whether a test of the class has failed so far."""
        return bool(self._outcome.result.failures or self._outcome.result.errors)

    def tearDown(self):
        if self.failed():
            for program in self.swarm.programs():
                print(f"--- {program.name}\n{program.log_tail(40)}")
            for name, status in self.swarm.statuses().items():
                print(f"--- {name}: {status}")

    def rounds_of(self, volunteer):
        return len(volunteer.journal())

    def wait_for_rounds(self, volunteers, count):
        """Waits until each of the volunteers has committed this many more rounds."""
        goals = {volunteer: self.rounds_of(volunteer) + count for volunteer in volunteers}
        programs.wait_until(lambda: all(self.rounds_of(v) >= goal for v, goal in goals.items()),
                            f"{count} more rounds of {[v.name for v in volunteers]}")

    def wait_for_log(self, program, words):
        """The first line of the program's log, from any of its starts, that contains the words."""
        def found():
            return next((line for line in program.log().splitlines() if words in line), None)

        return programs.wait_until(found, f"{program.name} logs '{words}'")

    def loss(self):
        """The loss from the volunteer that has computed most, 0 at first: a volunteer without samples keeps the loss of
        an old round."""
        told = [status for status in self.swarm.statuses().values() if status]
        return max(told, key=lambda status: status["samples_total"], default={"loss": 0})["loss"]

    def wait_for_a_round_of_all(self, volunteer):
        """Waits for a round with samples of everybody: a volunteer that is late for a round has none in it."""
        def joint():
            return any(len(entry["contributions"]) == len(self.swarm.volunteers) for entry in volunteer.journal().values())

        programs.wait_until(joint, "all are in one group")

    def assert_all_sides_agree(self, rounds_min):
        """Pauses the run: every accepted sample is in the ledger exactly once."""
        self.assertTrue(self.swarm.drain(), "the swarm settles")
        accepted, rounds, disagreements = results.compare_journals(self.swarm.journals())
        self.assertEqual(disagreements, [])
        self.assertGreaterEqual(rounds, rounds_min)
        self.assertEqual(accepted, self.swarm.coordinator.run_status(RUN_ID)["ledger_samples"])
