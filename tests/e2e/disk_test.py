#!/usr/bin/env python3
"""Disks that are full while rounds run, under the coordinator and under a volunteer: small file systems in memory that
only this test and its processes see. Mounting them needs root or user namespaces."""

import os
import subprocess
import sys
import unittest

import programs
import suite
from swarm_case import RUN_ID, SwarmCase

INSIDE = "STARLING_PRIVATE_MOUNTS"
# The coordinator sets aside a reserve of 16 MB if there is room for four of them.
COORDINATOR_DISK_MB = 96
VOLUNTEER_DISK_MB = 32


def enter_private_mounts():
    """Starts this script again in a mount namespace of its own. If that is not allowed, the tests are skipped."""
    if INSIDE in os.environ:
        return
    probe = subprocess.run([*programs.UNSHARE, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False)
    if probe.returncode == 0:
        os.execvpe(programs.UNSHARE[0], [*programs.UNSHARE, sys.executable, *sys.argv], {**os.environ, INSIDE: "1"})


class SmallDisk:
    def __init__(self, folder, megabytes):
        self.folder = folder
        self.filler = folder / "filler"
        folder.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=700", "none", folder], check=True)

    def unmount(self):
        subprocess.run(["umount", self.folder], check=True)

    def fill(self):
        """Fills the disk to the last byte. The next call takes whatever was released since."""
        with open(self.filler, "ab", buffering=0) as filler:
            for piece in (1 << 20, 1 << 12, 1):
                try:
                    while True:
                        filler.write(bytes(piece))
                except OSError:
                    pass

    def free(self):
        self.filler.unlink()


@unittest.skipUnless(INSIDE in os.environ, "this system does not let us mount a small disk: neither root nor user namespaces")
class FullDisks(SwarmCase):
    # While the coordinator's disk is full there are only some ten rounds; they must last longer than a late volunteer
    # takes to load the state again. Samples that are leased would end some time after it is full, when those that were
    # dealt before are computed: before two rounds of them, if it became full early.
    SETTINGS = {"target_batch_size": 256, "peers_max": 64, "sampling": "independent"}

    @classmethod
    def prepare(cls):
        cls.victim = cls.swarm.volunteers[0]
        cls.coordinator = cls.swarm.coordinator
        cls.coordinator_disk = cls.mount(cls.coordinator.folder, COORDINATOR_DISK_MB)
        cls.victim_disk = cls.mount(cls.victim.folder, VOLUNTEER_DISK_MB)

    @classmethod
    def mount(cls, folder, megabytes):
        disk = SmallDisk(folder, megabytes)
        cls.addClassCleanup(disk.unmount)
        return disk

    def wait_while_full(self, disk, condition, what):
        """Works like wait_until, on a disk that stays full whatever is released."""
        def still_full():
            disk.fill()
            return condition()

        return programs.wait_until(still_full, what)

    def unkept(self):
        """The victim's report of rounds that it cannot keep; the coordinator may report something else, too."""
        return next((told for told in self.victim.status()["problems"] if "keep finished rounds" in told), None)

    def ledger_samples(self):
        return self.coordinator.run_status(RUN_ID)["ledger_samples"]

    def test_1_under_the_coordinator_nothing_acknowledged_is_lost(self):
        self.wait_for_rounds(self.swarm.volunteers, 3)
        database = f"'{self.coordinator.folder / 'coordinator.db'}'"
        log = self.coordinator.server.log
        self.wait_while_full(self.coordinator_disk, lambda: "contributions are refused" in log(), "it is full")
        self.assertIn(f"the disk of {database} is full: writing into the last reserve", log())
        self.assertIn(f"database {database}: database or disk is full", log())
        self.wait_while_full(self.coordinator_disk,
                             lambda: sum(v.status()["reports_waiting"] >= 2 for v in self.swarm.volunteers) >= 2,
                             "rounds go on and are not acknowledged")

        stored = self.ledger_samples()
        self.coordinator.server.kill()
        self.coordinator_disk.fill()
        self.coordinator.serve()
        self.assertGreaterEqual(self.ledger_samples(), stored)
        self.coordinator_disk.free()
        programs.wait_until(lambda: self.ledger_samples() > stored, "what waited is stored")
        self.wait_for_rounds(self.swarm.volunteers, 3)

    def test_2_a_volunteer_says_what_it_can_not_write_and_trains_on(self):
        problem = self.wait_while_full(self.victim_disk, self.unkept, "it is full")
        for told in (problem, self.victim.daemon.log()):
            self.assertRegex(told, f"keep finished rounds on disk: .* '{self.victim.folder}/.*': No space left on device")
        rounds = self.victim.status()["rounds_done"]
        self.wait_while_full(self.victim_disk, lambda: self.victim.status()["rounds_done"] >= rounds + 5, "it trains on")

        self.victim_disk.free()
        programs.wait_until(lambda: not self.unkept(), "it is well again")
        # A round that was averaged once more, because its first result did not count, has a line for each.
        lines = self.victim.folder / "rounds.jsonl"
        programs.wait_until(lambda: self.victim.status()["rounds_done"] == sum("round" in line for line in programs.whole_lines(lines)),
                            "all its rounds are on disk")

    def test_3_a_volunteer_ends_and_starts_on_a_full_disk(self):
        self.victim_disk.fill()
        self.assertEqual(self.victim.daemon.stop(), 0)
        self.assertRegex(self.victim.daemon.log(), "save the model before leaving: .*: No space left on device")
        self.victim_disk.fill()
        self.victim.start()
        self.wait_while_full(self.victim_disk, lambda: self.victim.status()["rounds_done"] >= 2, "it trains")
        self.victim_disk.free()
        self.wait_for_rounds(self.swarm.volunteers, 3)

    def test_4_in_the_end_all_sides_agree(self):
        self.assert_all_sides_agree(10)


if __name__ == "__main__":
    enter_private_mounts()
    suite.main()
