#!/usr/bin/env python3
"""Three volunteers take local steps and average their results: the loss falls, deaths cost nothing that counts."""

import os
import signal

import programs
import suite
from swarm_case import SwarmCase

BATCH = 768  # over all volunteers: about eight steps of 32 samples each between two rounds


class LocalStepsSwarm(SwarmCase):
    SETTINGS = {"algorithm": "diloco", "target_batch_size": BATCH, "micro_batch_size": 32, "peers_max": 16,
                "schedule": {"learning_rate": 0.7},
                "local.schedule": {"learning_rate": 3e-3, "warmup_rounds": 1, "total_rounds": 100}}

    def test_1_rounds_of_local_steps_make_text_cheaper(self):
        self.wait_for_rounds(self.swarm.volunteers, 8)
        self.wait_for_a_round_of_all(self.swarm.volunteers[0])
        programs.wait_until(lambda: 0 < self.loss() < 4, "text costs less than 4 nats a byte, of 5.5 at first")

    def test_2_a_trainer_that_dies_between_steps_is_replaced_and_the_round_counts(self):
        victim = self.swarm.volunteers[0]
        trainer = next(p for p in programs.session_members(victim.daemon.process.pid) if p != victim.daemon.process.pid)
        os.kill(trainer, signal.SIGKILL)
        self.wait_for_rounds(self.swarm.volunteers, 3)

    def test_3_a_killed_volunteer_holds_nobody_up_and_comes_back(self):
        victim, *others = self.swarm.volunteers
        victim.daemon.kill()
        self.wait_for_rounds(others, 2)
        victim.start()
        self.wait_for_rounds(self.swarm.volunteers, 2)

    def test_4_in_the_end_all_sides_agree(self):
        self.assert_all_sides_agree(10)


if __name__ == "__main__":
    suite.main()
