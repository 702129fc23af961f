#!/usr/bin/env python3
"""Some of a run's samples contain NaN: epochs are complete without them, and the operator learns which they are. A class that
the model does not have is refused before there is a run."""

import json
import random
import re
import struct

import programs
import suite
from swarm import write_run
from swarm_case import RUN_ID, SETTINGS, SwarmCase

SAMPLES = 600
WIDTH = 8
BROKEN = {7, 250}  # items with a NaN among their values
STRANGE = 120      # with a class that the model does not have


def write_samples(path, count, broken=(), strange=None):
    """Two classes, distinguished by the sign of their values."""
    chance = random.Random(count)
    values, labels = [], []
    for item in range(count):
        label = chance.randrange(2)
        row = [chance.gauss(1 if label else -1, 1) for _ in range(WIDTH)]
        if item in broken:
            row[item % WIDTH] = float("nan")
        values += row
        labels.append(5 if item == strange else label)
    tensors = {"inputs": ("F32", [count, WIDTH], struct.pack(f"<{len(values)}f", *values)),
               "labels": ("I32", [count], struct.pack(f"<{count}i", *labels))}
    head, at = {}, 0
    for name, (kind, shape, data) in tensors.items():
        head[name] = {"dtype": kind, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data for _, _, data in tensors.values()))


class UnusableSamples(SwarmCase):
    VOLUNTEERS = 3

    @classmethod
    def prepare(cls):
        write_samples(cls.folder / "train", SAMPLES, BROKEN)
        write_samples(cls.folder / "held_out", 64)
        cls.SETTINGS = {"target_batch_size": 64, "peers_max": 4,
                        "model": {"architecture": "mlp", "layers": 2, "width": 16, "inputs": WIDTH, "classes": 2},
                        "data": {"kind": "labelled", "train": str(cls.folder / "train"),
                                 "validation": str(cls.folder / "held_out")}}

    def rows(self, query):
        return self.swarm.coordinator.rows(query)

    def test_0_a_class_that_the_model_has_not_is_refused_with_file_and_sample(self):
        strange = self.folder / "strange"
        write_samples(strange, SAMPLES, BROKEN, STRANGE)
        settings = {**SETTINGS, **self.SETTINGS, "run_id": "strange",
                    "data": {**self.SETTINGS["data"], "train": str(strange)}}
        manifest = write_run(self.folder / "refused", None, settings)
        coordinator = self.swarm.coordinator
        told = coordinator.command("run", "create", coordinator.folder, manifest, check=False)
        self.assertEqual(told.returncode, 1)
        self.assertIn(f"'{strange}': its tensor 'labels': sample {STRANGE} is of class 5", told.stderr)

    def test_1_epochs_are_complete_without_them(self):
        def first_is_complete():
            epochs = self.swarm.coordinator.run_status(RUN_ID)
            return epochs.get("epochs_complete", 0) >= 1 and epochs.get("epoch", 1) > 0 and epochs

        status = programs.wait_until(first_is_complete, "the first epoch is complete")
        self.assertGreaterEqual(status["samples_set_aside"], len(BROKEN))
        counted = self.rows("SELECT sum(samples) FROM sample_counted WHERE epoch = 0")[0][0]
        self.assertEqual(counted, SAMPLES - len(BROKEN))
        self.assertEqual(self.rows("SELECT count(*) FROM sample_set_aside WHERE epoch = 0")[0][0],
                         len(BROKEN))

    def test_2_the_operator_is_told_which_they_are(self):
        told = self.swarm.coordinator.command("doctor", self.swarm.coordinator.folder, check=False).stdout
        items = {int(item) for item in re.findall(r"item (\d+) of shard 0", told)}
        self.assertTrue(items and items <= BROKEN, told)
        self.assertIn("could not be trained on", told)
        self.assertIn("set aside", self.swarm.coordinator.command("run", "status", self.swarm.coordinator.folder,
                                                                  RUN_ID).stdout)

    def test_3_the_others_are_learnt_from(self):
        programs.wait_until(lambda: 0 < self.loss() < 0.3, "the classes are told apart")


if __name__ == "__main__":
    suite.main()
