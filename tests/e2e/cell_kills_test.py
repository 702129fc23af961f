#!/usr/bin/env python3
"""Six volunteers train a model in cells, each held by two of them, and one is killed every so often: no state is lost,
and the loss is that of a swarm which nobody disturbs, sample for sample.

    cell_kills_test.py [--seconds 300] [--every 20] [--seeds 3]    two swarms one after the other for each seed
"""

import argparse
import random
import shutil
import tempfile
import time
import unittest
from pathlib import Path

import programs
import suite
from cells_test import CELLS, CellsCase
from swarm import Swarm
from swarm_case import RUN_ID, SETTINGS, small_corpus

VOLUNTEERS = 6
DOWN_S = 2  # how long a victim stays dead
POLL_S = 0.2
LOSS_WITHIN = 0.02  # of the undisturbed swarm's

options = argparse.Namespace(seconds=300, every=20, seeds=3)


class CellSwarm:
    """A swarm from its first round on, for as long as the options say."""

    def __init__(self, folder, seed, kills):
        self.random = random.Random(seed)
        self.kills = kills
        self.killed = 0
        self.swarm = Swarm(folder, VOLUNTEERS, threads=1)
        self.swarm.create("Holders die", {**SETTINGS, **CellsCase.SETTINGS, "seed": seed}, small_corpus())

    def train(self):
        coordinator = self.swarm.coordinator
        programs.wait_until(lambda: coordinator.run_status(RUN_ID)["round"] > 0, "the first round")
        programs.wait_until(lambda: self.fewest_holders() >= 2, "two holders of each cell")
        began = time.monotonic()
        next_kill, back = began + options.every, []
        while time.monotonic() < began + options.seconds:
            time.sleep(POLL_S)
            now = time.monotonic()
            for _, victim in [each for each in back if each[0] <= now]:
                victim.start()
            back = [each for each in back if each[0] > now]
            if self.kills and now >= next_kill:
                next_kill += options.every
                victim = self.random.choice(self.swarm.volunteers)
                victim.daemon.kill()
                self.killed += 1
                back.append((now + DOWN_S, victim))
        for _, victim in back:
            victim.start()

    def fewest_holders(self):
        holders = self.swarm.coordinator.run_status(RUN_ID).get("cell_holders", [])
        return min(holders) if len(holders) == CELLS else 0

    def states_lost(self):
        return [line for line in self.swarm.coordinator.server.log().splitlines() if "nobody holds the state" in line]

    def rounds(self):
        """(samples so far, the samples' mean loss) of each round."""
        done, so_far = [], 0
        for samples, loss in self.swarm.coordinator.rows(
                "SELECT samples, loss FROM round WHERE run_id = ? ORDER BY round",
                RUN_ID):
            so_far += samples
            done.append((so_far, samples, loss))
        return done


def mean_loss(rounds, first, last):
    """The mean over the samples of the rounds that end between these numbers of samples."""
    inside = [(samples, loss) for so_far, samples, loss in rounds if first < so_far <= last]
    return sum(samples * loss for samples, loss in inside) / sum(samples for samples, _ in inside)


class KilledHolders(unittest.TestCase):
    def train(self, seed, kills):
        folder = Path(tempfile.mkdtemp(prefix="starling-e2e-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        swarm = CellSwarm(folder, seed, kills)
        try:
            swarm.train()
            lost, rounds = swarm.states_lost(), swarm.rounds()
        finally:
            swarm.swarm.stop()
        self.assertEqual(lost, [])
        return rounds, swarm.killed

    def test_the_loss_is_that_of_a_swarm_that_nobody_disturbs(self):
        for seed in range(1, options.seeds + 1):
            with self.subTest(seed=seed):
                calm, _ = self.train(seed, kills=False)
                disturbed, killed = self.train(seed, kills=True)
                samples = min(calm[-1][0], disturbed[-1][0])
                expected = mean_loss(calm, samples * 3 / 4, samples)
                loss = mean_loss(disturbed, samples * 3 / 4, samples)
                print(f"seed {seed}: {killed} kills; {calm[-1][0]} samples undisturbed and {disturbed[-1][0]} with kills; "
                      f"loss at {samples} samples {expected:.4f} and {loss:.4f}, {100 * (loss / expected - 1):+.2f} %")
                self.assertGreaterEqual(killed, options.seconds // options.every - 1)
                self.assertLessEqual(abs(loss / expected - 1), LOSS_WITHIN)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--every", type=float, default=20, help="seconds from one kill to the next")
    parser.add_argument("--seeds", type=int, default=3)
    parser.parse_args(namespace=options)
    suite.main([])


if __name__ == "__main__":
    main()
