#!/usr/bin/env python3
"""Three volunteers train a small model for real, and everything that can be killed is killed once."""

import os
import signal
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
TRAIN_BYTES = 200_000
HELD_OUT_BYTES = 4_000


def small_corpus():
    corpus = text.load_corpus()
    return text.Corpus(corpus.train[:TRAIN_BYTES], corpus.held_out[:HELD_OUT_BYTES])


def children(pid):
    """Of all its threads: the trainer is not started by the main one."""
    return [int(child) for path in Path(f"/proc/{pid}/task").glob("*/children") for child in path.read_text().split()]


class SwarmUnderFire(unittest.TestCase):
    """One swarm for all of it, and one order: each test leaves the swarm whole."""

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="starling-e2e-"))
        if "STARLING_KEEP" not in os.environ:  # to look at what it left
            cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.swarm = Swarm(cls.folder, 3)
        cls.addClassCleanup(cls.swarm.stop)
        cls.swarm.create("End to end", SETTINGS, small_corpus())

    def tearDown(self):
        if any(failed for _, failed in self._outcome.result.failures + self._outcome.result.errors):
            for program in self.swarm.programs():
                print(f"--- {program.name}\n{program.log_tail(40)}")
            for name, status in self.swarm.statuses().items():
                print(f"--- {name}: {status}")

    def rounds_of(self, volunteer):
        return len(volunteer.journal())

    def wait_for_rounds(self, volunteers, count, timeout_s=30):
        """Each of the volunteers commits so many rounds from now on."""
        goals = {volunteer: self.rounds_of(volunteer) + count for volunteer in volunteers}
        programs.wait_until(lambda: all(self.rounds_of(v) >= goal for v, goal in goals.items()),
                            f"{count} more rounds of {[v.name for v in volunteers]}", timeout_s)

    def trainer_of(self, volunteer):
        found = programs.wait_until(lambda: children(volunteer.daemon.process.pid), "a trainer runs")
        self.assertEqual(len(found), 1)
        return found[0]

    def test_1_three_volunteers_complete_rounds_together(self):
        self.wait_for_rounds(self.swarm.volunteers, 5)
        contributions = list(self.swarm.volunteers[0].journal().values())[-1]["contributions"]
        self.assertEqual(len(contributions), 3)

    def test_2_a_killed_volunteer_leaves_nothing_and_comes_back(self):
        victim, *others = self.swarm.volunteers
        victim.daemon.kill()
        programs.wait_until(lambda: not victim.daemon.leftovers(), "the victim's trainer ends", 5)
        self.wait_for_rounds(others, 3)
        victim.start()
        self.wait_for_rounds([victim], 3)

    def test_3_rounds_go_on_while_the_coordinator_is_away(self):
        before = {v: self.rounds_of(v) for v in self.swarm.volunteers}
        self.swarm.coordinator.server.kill()
        programs.wait_until(lambda: all(v.status()["coordinator_away"] for v in self.swarm.volunteers), "it shows")
        # Whoever the last plan reached alone may sit the outage out; the majority goes on.
        programs.wait_until(lambda: sum(self.rounds_of(v) >= before[v] + 3 for v in before) >= 2, "rounds go on")
        self.swarm.coordinator.serve()
        self.wait_for_rounds(self.swarm.volunteers, 3)
        programs.wait_until(lambda: not any(v.status()["coordinator_away"] for v in self.swarm.volunteers), "it shows")

    def test_4_a_killed_trainer_is_started_again(self):
        victim = self.swarm.volunteers[1]
        trainer = self.trainer_of(victim)
        os.kill(trainer, signal.SIGKILL)
        self.wait_for_rounds(self.swarm.volunteers, 3)
        self.assertNotEqual(self.trainer_of(victim), trainer)

    def test_5_a_hanging_trainer_is_replaced(self):
        victim = self.swarm.volunteers[2]
        trainer = self.trainer_of(victim)
        os.kill(trainer, signal.SIGSTOP)
        programs.wait_until(lambda: trainer not in children(victim.daemon.process.pid), "the trainer is replaced", 60)
        self.wait_for_rounds(self.swarm.volunteers, 3)

    def test_6_pause_frees_the_machine_and_resume_trains_on(self):
        volunteer = self.swarm.volunteers[0]
        volunteer.command("pause", "--reason", "gaming")

        def paused():
            status = volunteer.status()
            return status["phase"] == "paused" and "gaming" in status["reason"]

        programs.wait_until(paused, "the volunteer pauses, for the reason it was given")
        programs.wait_until(lambda: not children(volunteer.daemon.process.pid), "the trainer ends")
        self.wait_for_rounds(self.swarm.volunteers[1:], 2)
        volunteer.command("resume")
        self.wait_for_rounds([volunteer], 2)

    def test_7_in_the_end_all_sides_agree(self):
        self.assertTrue(self.swarm.drain(), "the swarm settles")
        accepted, rounds, disagreements = results.compare_journals(self.swarm.journals())
        self.assertEqual(disagreements, [])
        self.assertGreater(rounds, 15)
        self.assertEqual(accepted, self.swarm.coordinator.run_status(RUN_ID)["ledger_samples"])


if __name__ == "__main__":
    unittest.main(failfast=True)
