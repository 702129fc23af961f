#!/usr/bin/env python3
"""One volunteer whose rules are kept, observed from outside its processes."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import programs
import suite
from swarm_case import SETTINGS, SwarmCase
from swarm_test import children

MEASURED_S = 4
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
GAME = "starling-a-game"


def processor_seconds(stat):
    fields = Path(stat).read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


def seconds_by_thread(pid):
    seconds = {}
    for path in Path(f"/proc/{pid}/task").glob("*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            seconds[path.parent.name] = processor_seconds(path)
    return seconds


def busy_threads(pid, seconds=1):
    """The number of threads that did a real part of the work, once one has had that much processor time: other programs
    may leave it little."""
    before = seconds_by_thread(pid)

    def used():
        used = {thread: after - before.get(thread, 0) for thread, after in seconds_by_thread(pid).items()}
        return max(used.values(), default=0) >= seconds and used

    shares = programs.wait_until(used, f"a thread of process {pid} works for {seconds} s").values()
    return sum(share > 0.1 * max(shares) for share in shares)


def processors_used(pid, seconds=MEASURED_S):
    """The number of processors that the process kept busy, over all its threads."""
    stat = f"/proc/{pid}/stat"
    began, used = time.monotonic(), processor_seconds(stat)
    time.sleep(seconds)  # the length of the measurement, not a wait for anything
    return (processor_seconds(stat) - used) / (time.monotonic() - began)


class Limits(SwarmCase):
    """One volunteer for all tests; each test leaves it training by its rules."""

    VOLUNTEERS = 1

    @classmethod
    def prepare(cls):
        folder = cls.swarm.volunteers[0].folder
        cls.volunteer = programs.Volunteer("volunteer", folder, cls.swarm.logs / "volunteer.log", threads=None)
        cls.swarm.volunteers = [cls.volunteer]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name in ("on_battery", "on_metered", "during_fullscreen"):
            cls.set(name, "yes")
        cls.set("battery_min_percent", 0)
        cls.set("compute", "rules")

    @classmethod
    def set(cls, name, value):
        cls.volunteer.command("prefs", "set", name, value)

    def setUp(self):
        self.wait_for_rounds([self.volunteer], 1)

    def wait_for_pause(self, code, timeout_s=programs.FREE_WITHIN_S):
        def paused():
            status = self.volunteer.status()
            return status["phase"] == "paused" and status["rules"]["code"] == code and status

        status = programs.wait_until(paused, f"a pause because of {code}", timeout_s)
        for field in (status["reason"], status["ends_when"], status["rules"]["action"]):
            self.assertTrue(field)
        return status

    def daemon_children(self):
        return children(self.volunteer.daemon.process.pid)

    def trainer(self, threads):
        """The trainer, once it computes with this many threads."""
        wanted = f"OMP_NUM_THREADS={threads}".encode()

        def found():
            for child in self.daemon_children():
                try:
                    if wanted in Path(f"/proc/{child}/environ").read_bytes().split(b"\0"):
                        return child
                except OSError:
                    pass  # it is being replaced
            return None

        return programs.wait_until(found, f"a trainer with {threads} threads")

    def test_a_cap_of_one_thread_is_kept_and_the_trainer_is_the_last_in_line(self):
        self.set("threads_in_use_percent", 100)
        self.set("threads_idle_percent", 100)
        everything = self.trainer(os.cpu_count())
        self.wait_for_rounds([self.volunteer], 1)
        self.assertEqual(busy_threads(everything), os.cpu_count())
        self.set("threads_max", 1)
        pid = self.trainer(1)
        self.wait_for_rounds([self.volunteer], 1)
        self.assertEqual(os.sched_getscheduler(pid), os.SCHED_IDLE)
        self.assertEqual(os.getpriority(os.PRIO_PROCESS, pid), 19)
        self.assertEqual(self.volunteer.status()["rules"]["threads"], 1)
        self.assertLessEqual(processors_used(pid), 1.02)
        self.assertEqual(busy_threads(pid), 1)
        self.assertEqual(self.trainer(1), pid)

    def test_a_pause_frees_the_machine_and_costs_next_to_nothing(self):
        self.volunteer.command("pause")
        programs.wait_until(lambda: not self.daemon_children(), "the trainer ends", programs.FREE_WITHIN_S)
        self.wait_for_pause("paused")
        self.assertLessEqual(processors_used(self.volunteer.daemon.process.pid), 0.005 + 1 / TICKS_PER_S / MEASURED_S)
        self.volunteer.command("resume")

    def test_a_pause_after_the_round_lets_it_end(self):
        self.volunteer.command("pause", "--after-round")
        self.addCleanup(self.volunteer.command, "resume")
        done = self.rounds_of(self.volunteer)
        status = self.wait_for_pause("paused", programs.EVENT_WITHIN_S)  # the length of a round
        self.assertGreaterEqual(self.rounds_of(self.volunteer), done)
        self.assertLess(status["samples_this_round"], SETTINGS["target_batch_size"])

    def test_a_snooze_survives_being_killed(self):
        self.volunteer.command("snooze", "15m", "--reason", "film night")
        ends = self.wait_for_pause("snoozed")["rules"]["ends_at_ms"]
        self.volunteer.daemon.kill()
        self.volunteer.start()
        status = self.wait_for_pause("snoozed")
        self.assertEqual(status["rules"]["ends_at_ms"], ends)
        self.assertIn("film night", status["reason"])
        self.volunteer.command("resume")

    def test_an_exclusive_program_has_the_machine_to_itself(self):
        self.set("exclusive_programs", GAME)
        program = shutil.copy("/bin/sleep", self.folder / GAME)
        with subprocess.Popen([program, "600"]) as game:
            try:
                status = programs.wait_until(self.shows_the_game, "a pause for the game")
                self.assertEqual(status["rules"]["code"], "exclusive_program")
                programs.wait_until(lambda: not self.daemon_children(), "the trainer ends", programs.FREE_WITHIN_S)
            finally:
                game.send_signal(signal.SIGKILL)
        self.wait_for_rounds([self.volunteer], 1)

    def shows_the_game(self):
        status = self.volunteer.status()
        return status["phase"] == "paused" and GAME in status["reason"] and status

    def test_a_schedule_without_an_hour_stops_training_until_it_is_switched_off(self):
        self.set("compute_schedule", "never")
        self.set("compute_schedule_on", "yes")
        self.wait_for_pause("compute_hours")
        self.set("compute_schedule_on", "no")
        self.wait_for_rounds([self.volunteer], 1)

    def test_a_used_up_month_stops_rounds_but_not_heartbeats(self):
        # A volunteer alone in the swarm averages nothing; but heartbeats count as well. The daemon may just have
        # restarted.
        programs.wait_until(lambda: self.volunteer.status()["rules"]["month_bytes"] > 1000, "heartbeats are counted")
        self.set("data_max_gb_per_month", 0.000001)
        self.wait_for_pause("data_cap")
        self.assertFalse(self.volunteer.status()["coordinator_away"])
        self.set("data_max_gb_per_month", "none")


if __name__ == "__main__":
    suite.main()
