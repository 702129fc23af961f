#!/usr/bin/env python3
"""A swarm that is off on weekends, seen by clocks that run 2000 times as fast: a certificate lasts 43 seconds of real
time, and nobody ever shows one that has run out. A swarm of one and a swarm of three, at the same time.

    weekends_test.py [--days 4]    the first part of a week, a weekend and the next days; 40 if it is not told

Wall clocks and the clock that counts sleep run fast for every process, from one origin; timers are real. What is not
lived through: on weekends no volunteer runs, and the coordinators are stopped as well while the clocks jump from the
weekend's first hour to its last. Of 40 days, the first weekend is none of these: the coordinators run on through it.
At night the operator pauses the run, so that this test leaves the cores to others for most of the time. The coordinators
are started anew each morning: a connection that is kept shows no certificate again.
"""

import argparse
import os
import re
import shutil
import tempfile
import time
import unittest
from pathlib import Path

import programs
import suite
from swarm import Swarm
from swarm_case import LITTLE_MODEL, RUN_ID, SETTINGS, small_corpus

SPEED = 2000
HOUR_S = 3600 / SPEED  # in real time
DAY_H = 24
WEEKEND_H = 48
TRAINING_H = {4: 5, 40: 10}  # of each day, by --days
BACK_WITHIN_S = 120  # of real time
POLL_S = 0.5
# Lines about a certificate that ran out, at either end. One that is "not yet valid" is another subject: an answer that
# arrives late leaves a clock of this speed behind, and the certificate of the next minute is ahead of it.
REFUSED = re.compile(r"certificate[^\n]*expired|refused our certificate|renew this computer's certificate")

options = argparse.Namespace(days=40)


class FastClock:
    """The clock of all processes that are started from here on."""

    def __init__(self):
        self.origin = int(time.time())
        self.shift_s = 0
        os.environ.update(LD_PRELOAD=os.environ["STARLING_SHIFTED_CLOCK"], CLOCK_SPEED=str(SPEED),
                          CLOCK_ORIGIN_S=str(self.origin))
        self.jump(0)

    def jump(self, hours):
        """Counts for processes that are started after it."""
        self.shift_s += hours * 3600
        os.environ["CLOCK_SHIFT_S"] = str(self.shift_s)


class WeekSwarm:
    """A swarm, and when each of its volunteers last had a part in a round that was decided."""

    def __init__(self, folder, volunteers):
        self.name = f"the swarm of {volunteers}"
        self.swarm = Swarm(folder, volunteers, threads=1)
        self.last = {}  # {host: its last round}
        self.since = {}  # {host: when that was first seen}

    def create(self):
        settings = {**SETTINGS, "model": LITTLE_MODEL, "target_batch_size": 64, "peers_max": 8,
                    "schedule": {"warmup_rounds": 5, "total_rounds": 1_000_000}}
        self.swarm.create("Weekends", settings, small_corpus())

    def rounds_decided(self):
        return self.swarm.coordinator.rows("SELECT count(*) FROM round")[0][0]

    def begin(self):
        """Everybody's waiting begins now."""
        now = time.monotonic()
        self.last = self.parts()
        self.since = {host: now for (host,) in self.swarm.coordinator.rows("SELECT id FROM host")}

    def parts(self):
        return dict(self.swarm.coordinator.rows("SELECT host, max(round) FROM contribution GROUP BY host"))

    def look(self):
        """Returns how long, in real seconds, the one that waits longest has had no part in a round."""
        now = time.monotonic()
        for host, number in self.parts().items():
            if number != self.last.get(host):
                self.last[host], self.since[host] = number, now
        return now - min(self.since.values())

    def everybody_is_back(self, begun):
        self.look()
        return len(self.since) == len(self.swarm.volunteers) and min(self.since.values()) > begun

    def start(self):
        if not self.swarm.coordinator.server.running():
            self.swarm.coordinator.serve()
        for volunteer in self.swarm.volunteers:
            volunteer.start()

    def stop_volunteers(self):
        for volunteer in self.swarm.volunteers:
            volunteer.daemon.ask_to_stop()
        for volunteer in self.swarm.volunteers:
            volunteer.daemon.stop()


class Weekends(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="starling-e2e-"))
        if "STARLING_KEEP" not in os.environ:  # keep them for inspection
            cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.clock = FastClock()
        cls.swarms = [WeekSwarm(cls.folder / str(size), size) for size in (1, 3)]
        for each in cls.swarms:
            cls.addClassCleanup(each.swarm.stop)

    def tearDown(self):
        if not (self._outcome.result.failures or self._outcome.result.errors):
            return
        for each in self.swarms:
            for program in each.swarm.programs():
                print(f"--- {each.name}: {program.name}\n{program.log_tail(40)}")

    def wait_until_all_are_back(self, begun):
        for each in self.swarms:
            left = begun + BACK_WITHIN_S - time.monotonic()
            programs.wait_until(lambda each=each: each.everybody_is_back(begun), f"{each.name} is back", left)
        print(f"back after {time.monotonic() - begun:.1f} s")

    def train_until(self, moment):
        """Nobody is ever away from the rounds for longer than a return may take."""
        while time.monotonic() < moment:
            time.sleep(POLL_S)
            for each in self.swarms:
                self.assertLess(each.look(), BACK_WITHIN_S, f"{each.name} trains")
                self.assertEqual(each.swarm.died(), [])

    def work(self, hours, begun):
        """Days that begin with everybody back, the first one at `begun`; the last may be a part of one."""
        ends = begun + hours * HOUR_S
        while True:
            self.wait_until_all_are_back(time.monotonic() if begun is None else begun)
            day = time.monotonic() if begun is None else begun
            self.train_until(min(day + TRAINING_H[options.days] * HOUR_S, ends))
            for each in self.swarms:
                each.swarm.coordinator.pause_run(RUN_ID)
            time.sleep(max(0, min(day + DAY_H * HOUR_S, ends) - time.monotonic()))
            for each in self.swarms:
                each.swarm.coordinator.start_run(RUN_ID)
                each.swarm.coordinator.server.stop()
                each.swarm.coordinator.serve()
                each.begin()
            if time.monotonic() >= ends:
                return
            begun = None

    def rest(self, jumped):
        """A weekend."""
        for each in self.swarms:
            each.stop_volunteers()
        if jumped:
            for each in self.swarms:
                each.swarm.coordinator.server.stop()
            self.clock.jump(WEEKEND_H)
        else:
            time.sleep(WEEKEND_H * HOUR_S)
            for each in self.swarms:
                self.assertTrue(each.swarm.coordinator.server.running())

    def test_1_it_is_back_after_every_weekend(self):
        for each in self.swarms:
            each.create()
            each.begin()
        begun = time.monotonic()
        weeks = [5 * DAY_H] * ((options.days + 2) // 7) if options.days > 7 else [30, 18]
        for number, hours in enumerate(weeks):
            if number > 0:
                self.rest(jumped=number > 1 or options.days <= 7)
                for each in self.swarms:
                    each.begin()
                begun = time.monotonic()
                for each in self.swarms:
                    each.start()
            self.work(hours, begun)

    def test_2_the_clocks_were_fast(self):
        for each in self.swarms:
            first, last = each.swarm.coordinator.rows("SELECT min(decided_at_ms), max(decided_at_ms) FROM round")[0]
            self.assertGreater(last - first, (options.days - 1.5) * DAY_H * 3_600_000)
            # Quiet days are logged by nobody.
            for volunteer in each.swarm.volunteers:
                stamps = [line[:19] for line in volunteer.daemon.log().splitlines() if re.match(r"\d{4}-\d\d-", line)]
                began, spoke = (time.mktime(time.strptime(stamp, "%Y-%m-%d %H:%M:%S")) for stamp in (stamps[0], stamps[-1]))
                self.assertGreater(spoke - began, options.days / 2 * DAY_H * 3600)

    def test_3_nobody_was_shown_a_certificate_that_it_refused(self):
        for each in self.swarms:
            print(f"{each.name}: {each.rounds_decided()} rounds")
            for program in each.swarm.programs():
                with self.subTest(f"{each.name}: {program.name}"):
                    self.assertEqual([line for line in program.log().splitlines() if REFUSED.search(line)][:5], [])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, choices=(4, 40), default=options.days)
    options, rest = parser.parse_known_args()
    suite.main(rest)
