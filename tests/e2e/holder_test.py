#!/usr/bin/env python3
"""A computer that is too small for the part of a model that everybody computes with holds experts for the others. It sees
a machine of less memory: that takes root or user namespaces."""

import subprocess
import unittest

import programs
import suite
from cells_test import CellsCase

PROGRAMS_BYTES = 264e6  # of the programs, and for the values of calls
LITTLE_BYTES = 150e6  # more than all cells take, and less than the trunk
MEMORY = "/proc/meminfo"


def with_memory(path, command):
    """The command, as it runs on a machine whose memory this file describes."""
    return [*programs.UNSHARE, "sh", "-c", f'mount --bind {path} {MEMORY} && exec "$@"', "sh", *command]


def may_mount():
    return subprocess.run(with_memory("/dev/null", ["true"]), capture_output=True, check=False).returncode == 0


@unittest.skipUnless(may_mount(), "this system lets us show no program less memory: neither root nor user namespaces")
class HolderAlone(CellsCase):
    # A trunk of 8 million parameters: some 300 MB with all that belongs to them.
    SETTINGS = {**CellsCase.SETTINGS,
                "model": {"architecture": "decoder", "layers": 2, "width": 1024, "heads": 4, "context": 16,
                          "vocabulary": 256, "mlp_width": 16, "expert_rows": 4, "active_experts": 2}}

    @classmethod
    def prepare(cls):
        *cls.others, cls.small = cls.swarm.volunteers
        memory = cls.folder / "meminfo"
        kilobytes = int(2 * (PROGRAMS_BYTES + LITTLE_BYTES) / 1024)  # half of it is allowed
        memory.write_text(f"MemTotal: {kilobytes} kB\nMemFree: {kilobytes} kB\nMemAvailable: {kilobytes} kB\n")
        cls.small.PREFERENCES = {**cls.small.PREFERENCES, "memory_idle_percent": 50, "memory_in_use_percent": 50}
        cls.small.daemon.command = with_memory(memory, cls.small.daemon.command)

    def held_by_small(self):
        status = self.small.status()
        return status and status.get("cells", {}).get("held")

    def calls_answered(self):
        return self.small.status()["cells"]["calls_answered"]

    def test_1_it_holds_experts_and_answers_the_others(self):
        programs.wait_until(self.held_by_small, "experts at the small computer")
        self.assertFalse(self.small.status()["cells"]["trunk_here"])
        answered = self.calls_answered()
        self.wait_for_rounds(self.others, 2)
        programs.wait_until(lambda: self.calls_answered() > answered, "answers of the small computer")
        status = self.small.status()
        self.assertEqual(status["phase"], "training")
        self.assertFalse(status["synced"])
        self.assertEqual(self.small.journal(), {})
        self.assertEqual(list((self.small.folder / "artefacts").glob("*")), [])

    def test_2_it_is_credited_for_that(self):
        peer = bytes.fromhex(self.small.peer())
        programs.wait_until(lambda: self.swarm.coordinator.rows(
            "SELECT 1 FROM contribution AS line JOIN run ON run.number = line.run "
            "JOIN host ON host.id = line.host WHERE run.part_of IS NOT NULL AND host.peer_id = ?", peer),
            "credit of the small computer")

    def test_3_it_says_why_it_writes_no_text(self):
        done = self.small.command("sample", "--prompt", "the ", check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("does not fit", done.stderr)

    def test_4_it_comes_back_to_its_experts(self):
        self.small.daemon.kill()
        self.wait_for_rounds(self.others, 1)
        self.small.start()
        programs.wait_until(self.held_by_small, "experts at the small computer")
        self.wait_for_holders(2)


if __name__ == "__main__":
    suite.main()
