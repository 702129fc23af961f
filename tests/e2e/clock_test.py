#!/usr/bin/env python3
"""Volunteers whose clocks are an hour off, either way, work as others do; so do those that slept for a day, and a swarm
that was off for days."""

import os
import shutil
import time

import programs
import suite
from swarm_case import RUN_ID, SwarmCase

HOUR_S = 3600


def shifted_clock(seconds):
    """The environment of a process whose clock is off by that many seconds."""
    return {"LD_PRELOAD": os.environ["STARLING_SHIFTED_CLOCK"], "CLOCK_SHIFT_S": str(seconds)}


class WrongClocks(SwarmCase):
    SETTINGS = {"checkpoint_rounds": 3}

    @classmethod
    def prepare(cls):
        cls.fast, cls.slow, cls.right = cls.swarm.volunteers
        cls.fast.daemon.environment = shifted_clock(HOUR_S)
        cls.slow.daemon.environment = shifted_clock(-HOUR_S)

    def contributions(self):
        return list(self.right.journal().values())[-1]["contributions"]

    def test_0_their_clocks_are_an_hour_off(self):
        for volunteer, shift in ((self.fast, HOUR_S), (self.slow, -HOUR_S)):
            stamp = volunteer.daemon.log().splitlines()[0][:19]  # from the first line that it logged
            logged = time.mktime(time.strptime(stamp, "%Y-%m-%d %H:%M:%S"))
            self.assertAlmostEqual(logged - shift, time.time(), delta=120)

    def test_1_they_contribute_and_are_credited(self):
        self.wait_for_rounds(self.swarm.volunteers, 3)
        self.wait_for_a_round_of_all(self.right)

        def credited():
            credit = self.swarm.coordinator.run_status(RUN_ID)["credit_by_volunteer"]
            return all(credit.get(volunteer.name, 0) > 0 for volunteer in self.swarm.volunteers)

        programs.wait_until(credited, "everybody is credited")

    def test_2_started_again_they_go_on(self):
        for volunteer in (self.fast, self.slow):
            volunteer.daemon.stop()
            volunteer.start()
        self.wait_for_rounds(self.swarm.volunteers, 3)
        programs.wait_until(lambda: len(self.contributions()) == 3, "all three are in one group")

    def test_3_certificates_that_have_run_out_are_renewed(self):
        """Simulates a day of sleep: two daemons run on, one is started with an old certificate on its disk."""
        self.slow.daemon.stop()
        self.swarm.coordinator.server.stop()
        self.swarm.coordinator.server.environment = shifted_clock(25 * HOUR_S)
        self.swarm.coordinator.serve()
        self.wait_for_log(self.swarm.coordinator.server, "certificate has expired")
        self.slow.start()
        self.wait_for_rounds(self.swarm.volunteers, 3)

        def reached():
            return not any(volunteer.status()["coordinator_away"] for volunteer in self.swarm.volunteers)

        programs.wait_until(reached, "everybody reaches the coordinator")

    def copies_from(self, first):
        """Waits for a copy of a state that the coordinator got from a volunteer, of this round or a later one."""
        programs.wait_until(lambda: self.swarm.coordinator.rows("SELECT 1 FROM checkpoint WHERE round >= ?", first),
                            f"a copy of the state of round {first} or later")

    def test_4_whoever_asks_about_teams_shows_the_renewed_one(self):
        for volunteer in self.swarm.volunteers:
            volunteer.command("team", "show")

    def test_5_so_does_whoever_brings_a_copy_of_the_state(self):
        """Takes a minute: there is no copy sooner after another."""
        (last,), = self.swarm.coordinator.rows("SELECT max(round) FROM round")
        self.copies_from(last + 1)

    def test_6_a_swarm_that_was_off_for_days_and_lost_its_state_comes_back(self):
        for volunteer in self.swarm.volunteers:
            volunteer.daemon.stop()
            shutil.rmtree(volunteer.folder / "checkpoints")
        self.swarm.coordinator.server.stop()
        self.swarm.coordinator.server.environment = shifted_clock(75 * HOUR_S)
        self.swarm.coordinator.serve()
        for volunteer in self.swarm.volunteers:
            volunteer.start()
        self.wait_for_rounds(self.swarm.volunteers, 3)

    def test_7_in_the_end_all_sides_agree(self):
        self.assert_all_sides_agree(5)


if __name__ == "__main__":
    suite.main()
