#!/usr/bin/env python3
"""Three volunteers compute the next round's gradients while the last one's are averaged: the loss falls, and a process
that dies in between costs only itself."""

import os
import signal

import programs
import suite
from swarm_case import SwarmCase


class DelayedUpdates(SwarmCase):
    MBIT = 8  # per volunteer: an averaging takes a second, in which a trainer can die
    SETTINGS = {"delay_parameter_updates": True, "target_batch_size": 192, "peers_max": 16, "codec": "fp16",
                "schedule": {"learning_rate": 3e-3, "warmup_rounds": 5, "total_rounds": 400}}

    @classmethod
    def prepare(cls):
        for volunteer in cls.swarm.volunteers:
            volunteer.PREFERENCES = {**volunteer.PREFERENCES, "upload_max_mbit_s": cls.MBIT, "download_max_mbit_s": cls.MBIT}

    def wait_for_averaging(self, volunteer):
        """Waits until a round of the volunteer is being averaged: bytes pass, and the round is not over. Returns its
        number."""
        def under_way():
            rounds = self.rounds_of(volunteer)
            before, after = (volunteer.status()["rules"]["month_averaging_bytes"] for _ in range(2))
            return before < after and self.rounds_of(volunteer) == rounds and max(volunteer.journal()) + 1

        return programs.wait_until(under_way, f"a round of {volunteer.name} is averaged")

    def test_1_rounds_with_late_gradients_make_text_cheaper(self):
        self.wait_for_rounds(self.swarm.volunteers, 8)
        self.wait_for_a_round_of_all(self.swarm.volunteers[0])
        programs.wait_until(lambda: 0 < self.loss() < 4, "text costs less than 4 nats a byte, of 5.5 at first")

    def round_counts_though_its_trainer_dies(self, victim):
        under_way = self.wait_for_averaging(victim)
        for trainer in programs.session_members(victim.daemon.process.pid):
            if trainer != victim.daemon.process.pid:
                os.kill(trainer, signal.SIGKILL)
        self.wait_for_rounds(self.swarm.volunteers, 3)
        return under_way in victim.journal()

    def test_2_a_trainer_that_dies_while_a_round_is_averaged_is_replaced_and_the_round_counts(self):
        # Traffic is seen a second late: the averaging may just have ended, and then the next round goes without the
        # victim.
        victim = self.swarm.volunteers[0]
        self.assertTrue(any(self.round_counts_though_its_trainer_dies(victim) for _ in range(3)),
                        "the round in which it died counts for it")

    def test_3_a_killed_volunteer_holds_nobody_up_and_loads_a_whole_state(self):
        victim, *others = self.swarm.volunteers
        self.wait_for_averaging(victim)
        victim.daemon.kill()
        self.wait_for_rounds(others, 2)
        victim.start()
        self.wait_for_rounds(self.swarm.volunteers, 2)

    def test_4_in_the_end_all_sides_agree(self):
        self.assert_all_sides_agree(10)


if __name__ == "__main__":
    suite.main()
