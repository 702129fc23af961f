#!/usr/bin/env python3
"""Files that a disk has damaged: each is named and set aside, and its content is fetched from elsewhere."""


import suite
from swarm_case import SwarmCase


class DamagedCheckpoint(SwarmCase):
    @classmethod
    def prepare(cls):
        cls.victim, *cls.others = cls.swarm.volunteers

    def newest_checkpoint(self):
        return max((self.victim.folder / "checkpoints").glob("*.safetensors"), key=lambda path: path.stat().st_mtime)

    def problems(self):
        """Its own problems: the coordinator may also report that the others had to wait for it."""
        return [told for told in self.victim.status()["problems"] if not told.startswith("the coordinator says:")]

    def test_1_it_is_named_and_kept_and_the_state_comes_from_the_swarm(self):
        self.wait_for_rounds(self.swarm.volunteers, 3)
        self.victim.daemon.stop()
        checkpoint = self.newest_checkpoint()
        damaged = bytearray(checkpoint.read_bytes())
        damaged[len(damaged) // 2] ^= 1
        checkpoint.write_bytes(damaged)

        self.victim.start()
        line = self.wait_for_log(self.victim.daemon, "is damaged")
        self.assertIn(f"'{checkpoint}'", line)
        self.assertIn(f"'{checkpoint.name}.corrupt'", line)
        self.assertEqual(checkpoint.with_name(checkpoint.name + ".corrupt").read_bytes(), damaged)
        self.wait_for_rounds(self.swarm.volunteers, 3)
        problems = self.problems()
        self.assertEqual(len(problems), 1)
        self.assertIn(f"'{checkpoint}' is damaged", problems[0])
        self.assertIn(problems[0], self.victim.command("status").stdout)

    def test_2_a_file_that_was_kept_aside_is_not_read_again(self):
        self.victim.daemon.stop()
        self.victim.start()
        self.wait_for_rounds([self.victim], 2)
        self.assertEqual(self.problems(), [])

    def test_3_in_the_end_all_sides_agree(self):
        self.assert_all_sides_agree(5)


if __name__ == "__main__":
    suite.main()
