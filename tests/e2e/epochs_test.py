#!/usr/bin/env python3
"""Volunteers are killed and join at random, and the coordinator is killed too. In the end each sample of each epoch
stands for exactly one accepted contribution, according to the coordinator's database."""

import random
import time

import programs
import suite
from swarm_case import RUN_ID, SwarmCase

CONTEXT = 64
TRAIN_BYTES = 60_000
EPOCH = (TRAIN_BYTES - 1) // CONTEXT  # windows side by side
CHAOS_S = 12
COORDINATOR_DIES_AT_S = (3, 8)
COORDINATOR_AWAY_S = 1


class Epochs(SwarmCase):
    VOLUNTEERS = 4
    TRAIN_BYTES = TRAIN_BYTES
    SETTINGS = {"target_batch_size": 96, "peers_max": 64}

    def rows(self, query, *values):
        return self.swarm.coordinator.rows(query, *values)

    def open_epochs(self):
        return [epoch for epoch, in self.rows("SELECT epoch FROM sample_epoch WHERE counted < samples")]

    def test_1_volunteers_and_the_coordinator_are_killed_at_random(self):
        seed = random.randrange(1 << 32)
        print(f"seed {seed}")
        chance = random.Random(seed)
        self.wait_for_rounds(self.swarm.volunteers, 2)
        began = time.monotonic()
        deaths = list(COORDINATOR_DIES_AT_S)
        newcomer = None
        while time.monotonic() - began < CHAOS_S:
            victim = chance.choice(self.swarm.volunteers)
            victim.daemon.kill()
            time.sleep(chance.uniform(0.2, 1))  # the others continue meanwhile
            if deaths and time.monotonic() - began > deaths[0]:
                deaths.pop(0)
                self.swarm.coordinator.server.kill()
                time.sleep(COORDINATOR_AWAY_S)
                self.swarm.coordinator.serve()
            if newcomer is None:
                newcomer = self.swarm.newcomer()
                self.swarm.volunteers.append(newcomer)
                newcomer.start()
                newcomer.join(self.swarm.coordinator.new_invite())
            victim.start()
        self.swarm.lose(self.swarm.volunteers[0])

    def test_2_all_epochs_that_had_begun_by_then_are_counted_whole(self):
        newest = max(2, self.rows("SELECT max(epoch) FROM sample_epoch")[0][0])
        programs.wait_until(lambda: min(self.open_epochs()) > newest, f"epoch {newest} is complete")
        self.assertTrue(self.swarm.drain(), "the swarm settles")

    def test_3_each_sample_once_and_each_in_an_accepted_contribution(self):
        self.assertEqual({samples for samples, in self.rows("SELECT samples FROM sample_epoch")}, {EPOCH})
        complete = self.rows("SELECT epoch FROM sample_epoch WHERE counted = samples")
        self.assertGreaterEqual(len(complete), 2)
        for epoch, in complete:
            end = 0
            for first, samples in self.rows("SELECT first_sample, samples FROM sample_counted WHERE epoch = ? "
                                            "ORDER BY first_sample", epoch):
                self.assertEqual(first, end, f"epoch {epoch}: a sample is missing, or there twice")
                end = first + samples
            self.assertEqual(end, EPOCH)
        lines = dict(((round_, host), samples) for round_, host, samples in
                     self.rows("SELECT round, host, samples FROM contribution"))
        counted = self.rows("SELECT round, host, sum(samples) FROM sample_counted GROUP BY round, host")
        for round_, host, samples in counted:
            self.assertLessEqual(samples, lines[round_, host])
        # Rounds formed while the coordinator was away have samples that were not dealt: they count toward no epoch.
        entries = [entry for journal in self.swarm.journals().values() for entry in journal.values()]
        undealt = {entry["round"] for entry in entries if entry["autonomous"]}
        dealt = sum(samples for (round_, _), samples in lines.items() if round_ not in undealt)
        of_epochs = sum(samples for _, _, samples in counted)
        print(f"{len(complete)} epochs of {EPOCH} samples complete; {of_epochs} of {dealt} accepted samples that were dealt "
              f"counted in epochs, {sum(lines.values()) - dealt} others")
        self.assertGreater(of_epochs, 0.9 * dealt)


if __name__ == "__main__":
    suite.main()
