#!/usr/bin/env python3
"""Promises to volunteers, measured from outside the processes, over longer than a test may take.

    bars.py [SECONDS]     for each figure; 60 without it

Prints one line for each bar, and fails if one is not kept. Nothing else should use the processors.
"""

import random
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import desktop
import homes
import line_test
import programs
from limits_test import processors_used
from swarm_case import SwarmCase
from swarm_test import children
from wishes import Line, any_wish

SECONDS = float(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 60
COMMANDS = 10_000
SEED = 7
THREADS_MAX = 1.02
IDLE_CORES_MAX, IDLE_MB_MAX = 0.005, 60
CAP_BYTES = 20e6
CAP_EXCEEDED_MAX = 1.02
TRAINS_WITHIN_S = 120


class Idle(unittest.TestCase):
    """A daemon without a project."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="starling-bars-")))
        self.volunteer = programs.Volunteer("idle", self.folder / "idle", self.folder / "idle.log")
        self.volunteer.start()
        self.addCleanup(self.volunteer.daemon.stop)

    def test_without_a_project_it_costs_next_to_nothing(self):
        check_idle(self, "without a project", self.volunteer.daemon.process.pid)

    def test_ten_thousand_random_commands_leave_one_reason_at_every_step(self):
        chance = random.Random(SEED)
        reasons = {}
        began = time.monotonic()
        with Line(self.volunteer) as line:
            names = line.settings()
            for _ in range(COMMANDS):
                line.ask(**any_wish(chance, names))
                status = line.status()
                code = status["rules"]["code"]
                reasons[code] = reasons.get(code, 0) + 1
                if status["paused"]:
                    self.assertIn(code, ("paused", "snoozed"))
                for field in ("reason", "ends_when"):
                    self.assertTrue(status[field], status)
        print(f"{COMMANDS} random commands (seed {SEED}): {time.monotonic() - began:.0f} s, reasons {reasons}")


def check_idle(case, state, pid):
    cores = processors_used(pid, SECONDS)
    resident, proportional = desktop.memory_mb(pid)
    print(f"daemon {state}, {SECONDS:.0f} s: {100 * cores:.2f} % of a core, {resident:.0f} MB resident, "
          f"{proportional:.0f} MB proportional")
    case.assertLessEqual(cores, IDLE_CORES_MAX)
    case.assertLessEqual(resident, IDLE_MB_MAX)


class Training(SwarmCase):
    VOLUNTEERS = 1

    def test_1_a_cap_of_one_thread(self):
        volunteer = self.swarm.volunteers[0]
        self.wait_for_rounds([volunteer], 1, TRAINS_WITHIN_S)
        trainer = children(volunteer.daemon.process.pid)[0]
        used = processors_used(trainer, SECONDS)
        print(f"cap of one thread, {SECONDS:.0f} s: the trainer used {used:.3f} processors")
        self.assertEqual(children(volunteer.daemon.process.pid), [trainer])
        self.assertLessEqual(used, THREADS_MAX)

    def test_2_a_paused_daemon_costs_next_to_nothing(self):
        volunteer = self.swarm.volunteers[0]
        volunteer.command("pause")
        programs.wait_until(lambda: not children(volunteer.daemon.process.pid), "the trainer ends", 5)
        check_idle(self, "paused", volunteer.daemon.process.pid)


@unittest.skipIf(homes.missing(), homes.missing())
class DataCap(line_test.OnLines):
    """The month's data, counted by the volunteer's interface."""

    VOLUNTEERS = 2
    MBIT = 16.0

    @classmethod
    def prepare(cls):
        super().prepare()
        capped = cls.swarm.volunteers[0]
        capped.PREFERENCES = {**capped.PREFERENCES, "data_max_gb_per_month": CAP_BYTES / 1e9}

    def test_a_month_of_data_ends_where_the_cap_is(self):
        volunteer = self.swarm.volunteers[0]
        programs.wait_until(lambda: self.status()["rules"]["code"] == "data_cap", "the cap is reached", 300)
        sent, received, *_ = self.counted()
        metered = self.status()["rules"]["month_bytes"]
        print(f"data cap of {CAP_BYTES / 1e6:.0f} MB: the interface counted {(sent + received) / CAP_BYTES:.4f} of it, "
              f"the daemon {metered / CAP_BYTES:.4f}")
        self.assertLessEqual(sent + received, CAP_EXCEEDED_MAX * CAP_BYTES)
        time.sleep(SECONDS)  # the length of the measurement, not a wait for anything
        later_sent, later_received, *_ = self.counted()
        after = later_sent + later_received - sent - received
        print(f"beyond the cap: {after / SECONDS:.0f} bytes a second for heartbeats, "
              f"{after / SECONDS * 86400 / 1e6:.1f} MB a day")
        self.assertFalse(self.status()["coordinator_away"])


if __name__ == "__main__":
    unittest.main(verbosity=0)
