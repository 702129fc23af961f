#!/usr/bin/env python3
"""Volunteers train from shards on two mirrors: first one is empty and the other serves wrong bytes, later one dies. All
of it over IPv6, where this machine has that: coordinator, mirrors and volunteers."""

import json
import shutil
import statistics
import unittest

import programs
import releases
import text
from swarm_case import SwarmCase

VOCABULARY = 512
WRONG = "are not those of digest"


class ShardSwarm(SwarmCase):
    VOLUNTEERS = 2
    HOST = programs.loopback()

    @classmethod
    def prepare(cls):
        cls.first = releases.StaticHost(cls.folder / "first", host=cls.HOST)
        cls.second = releases.StaticHost(cls.folder / "second", certificate_of=cls.first, host=cls.HOST)
        for host in (cls.first, cls.second):
            cls.addClassCleanup(host.stop)
        corpus = cls.folder / "corpus.txt"
        corpus.write_bytes(text.load_corpus().train)
        cls.shards = cls.folder / "shards"
        programs.run_command("starling-coordinator", "data", "prepare", "text", cls.shards, corpus, "--vocabulary", VOCABULARY,
                             "--shard-mb", 0.03)
        cls.lay_out(cls.second)
        for shard in cls.files():
            damaged = bytearray(shard.read_bytes())
            damaged[len(damaged) // 2] ^= 1
            (cls.second.files / shard.name).write_bytes(damaged)
        cls.SETTINGS = {
            "model": {"layers": 2, "width": 64, "heads": 2, "context": 64, "vocabulary": VOCABULARY},
            "data": {"kind": "tokens", "shards": str(cls.shards / "shards.json"),
                     "mirrors": [cls.first.address, cls.second.address],
                     "mirror_ca": cls.first.certificate.read_text(), "shard_rounds": 2},
        }

    @classmethod
    def files(cls):
        return [path for path in cls.shards.iterdir() if len(path.name) == 64]

    @classmethod
    def lay_out(cls, host):
        for shard in cls.files():
            shutil.copy(shard, host.files)

    def loss(self):
        return statistics.mean(volunteer.status()["loss"] for volunteer in self.swarm.volunteers)

    def test_1_wrong_bytes_are_told_and_another_mirror_is_asked(self):
        for volunteer in self.swarm.volunteers:
            self.assertIn("mirror " + self.second.address, self.wait_for_log(volunteer.daemon, WRONG))
        self.assertEqual(self.rounds_of(self.swarm.volunteers[0]), 0)
        self.lay_out(self.first)
        self.wait_for_rounds(self.swarm.volunteers, 1, timeout_s=60)
        type(self).loss_at_first = self.loss()
        self.wait_for_rounds(self.swarm.volunteers, 7, timeout_s=60)
        self.lay_out(self.second)  # its keeper has noticed

    def test_2_a_dead_mirror_is_survived(self):
        self.first.stop()
        served = len(self.second.requests)
        self.wait_for_rounds(self.swarm.volunteers, 12, timeout_s=100)
        self.assertGreater(len(self.second.requests), served)
        self.assertEqual(self.swarm.died(), [])

    def test_3_volunteers_are_known_by_that_address(self):
        for volunteer in self.swarm.volunteers:
            self.assertEqual(volunteer.status()["reach"]["address"], self.HOST)
            self.assertIn(f"at {self.HOST} port", self.wait_for_log(volunteer.daemon, "others can dial this computer"))
            project = json.loads(volunteer.command("projects", "--json").stdout)["projects"][0]
            self.assertEqual(project["address"], self.swarm.coordinator.address)

    def test_4_the_loss_has_fallen_and_all_sides_agree(self):
        self.assertLess(self.loss(), 0.9 * self.loss_at_first)
        self.assert_all_sides_agree(19)
        for volunteer in self.swarm.volunteers:  # only what its lane has read so far, and the one to come
            kept = list((volunteer.folder / "shards").iterdir())
            self.assertLess(len(kept), len(self.files()))


if __name__ == "__main__":
    unittest.main(failfast=True)
