#!/usr/bin/env python3
"""Four volunteers take local steps and gossip parameters in pairs meanwhile: the loss falls, the replicas stay together
between the common averages, and a killed volunteer delays nobody."""

import os
import signal

import programs
import suite
from swarm_case import LITTLE_MODEL, SwarmCase

BATCH = 4 * 24 * 32  # over all volunteers: some 24 steps of 32 samples each between two rounds


SETTINGS = {"algorithm": "decentralized-adam", "target_batch_size": BATCH, "micro_batch_size": 32, "peers_max": 16,
            "model": LITTLE_MODEL, "schedule": {"learning_rate": 1.0},
            "local.schedule": {"learning_rate": 3e-3, "warmup_rounds": 1, "total_rounds": 100}}


class MixingCase(SwarmCase):
    APART = 0.05  # largest consensus distance at the end of a round, over the parameters' length

    def local_steps(self, volunteers):
        return [v.status().get("local_steps") or {"mixings": 0, "mixings_missed": 0, "spread": 0} for v in volunteers]

    def wait_until_together(self, volunteers):
        """The consensus distance after a round depends on the scheduling of processes, so a single good round
        suffices."""
        def together():
            spreads = [steps["spread"] for steps in self.local_steps(volunteers)]
            print(f"spread of each from the average: {spreads}")
            return all(0 < spread < self.APART for spread in spreads)

        programs.wait_until(together, "all have taken steps of their own, and are near their average")

    def wait_for_mixings(self, volunteers, count):
        before = [steps["mixings"] for steps in self.local_steps(volunteers)]

        def mixed():
            return all(now["mixings"] >= was + count for was, now in zip(before, self.local_steps(volunteers)))

        programs.wait_until(mixed, f"{count} more mixings of {[v.name for v in volunteers]}")

    def kill_trainer(self, victim):
        trainer = next(p for p in programs.session_members(victim.daemon.process.pid) if p != victim.daemon.process.pid)
        os.kill(trainer, signal.SIGKILL)


class DecentralizedSwarm(MixingCase):
    VOLUNTEERS = 4
    SETTINGS = SETTINGS

    def test_1_mixed_steps_make_text_cheaper(self):
        self.wait_for_rounds(self.swarm.volunteers, 6)
        self.wait_for_a_round_of_all(self.swarm.volunteers[0])
        programs.wait_until(lambda: 0 < self.loss() < 4, "text costs less than 4 nats a byte, of 5.5 at first")

    def test_2_pairs_mix_between_rounds_and_stay_together(self):
        self.wait_for_mixings(self.swarm.volunteers, 5)
        self.wait_until_together(self.swarm.volunteers)

    def test_3_a_trainer_that_dies_between_steps_costs_a_mixing(self):
        self.kill_trainer(self.swarm.volunteers[0])
        self.wait_for_rounds(self.swarm.volunteers, 2)
        self.wait_for_mixings(self.swarm.volunteers, 3)

    def test_4_a_killed_volunteer_holds_up_neither_rounds_nor_the_others_mixings(self):
        victim, *others = self.swarm.volunteers
        victim.daemon.kill()
        self.wait_for_rounds(others, 2)
        self.wait_for_mixings(others, 3)
        self.wait_until_together(others)
        victim.start()
        self.wait_for_rounds(self.swarm.volunteers, 2)
        self.wait_for_mixings(self.swarm.volunteers, 3)

    def test_5_in_the_end_all_sides_agree(self):
        self.assert_all_sides_agree(8)


class SwarmOfBuckets(MixingCase):
    """Parameters in three buckets, and no clipping, which would have to wait for the whole gradient: each bucket steps
    and is sent while the backward pass continues."""
    VOLUNTEERS = 2
    SETTINGS = {**SETTINGS, "target_batch_size": 2 * 10 * 8, "micro_batch_size": 8,
                "model": {"layers": 3, "width": 256, "heads": 4, "context": 32},
                "local.optimizer": {"kind": "adamw", "clip_norm": 0.0}}

    def test_1_buckets_are_mixed_and_replicas_stay_together(self):
        self.wait_for_rounds(self.swarm.volunteers, 3)
        self.wait_for_mixings(self.swarm.volunteers, 5)
        self.wait_until_together(self.swarm.volunteers)

    def test_2_a_trainer_that_dies_in_the_middle_of_its_buckets_costs_a_mixing(self):
        self.kill_trainer(self.swarm.volunteers[0])
        self.wait_for_rounds(self.swarm.volunteers, 2)
        self.wait_for_mixings(self.swarm.volunteers, 3)
        # A volunteer that restarts without moments has moved another way when that round ends.
        self.wait_until_together(self.swarm.volunteers)

    def test_3_in_the_end_all_sides_agree(self):
        self.assert_all_sides_agree(4)


if __name__ == "__main__":
    suite.main()
