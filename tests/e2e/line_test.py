#!/usr/bin/env python3
"""Limits on a volunteer's line, observed from outside its processes by the interface's counters.

Interfaces count Ethernet frames: with the headers of Ethernet, IP and TCP, acknowledgements, retransmissions, and all
other traffic of the computer. Every packet travels by itself here, as on a real line.
"""

import json
import subprocess
import time
import unittest

import homes
import programs
import suite
from nat_test import NatCoordinator
from swarm_case import SwarmCase

MBIT = 1.0  # both ways, of every volunteer
BYTES_PER_S = MBIT * 1e6 / 8
WINDOW_S = 16  # bytes under way at its ends, and a burst, are less than 2 % of the allowance within it
WITHIN = 0.02
USED = 0.95  # at least, with enough to do: a busy machine may leave some


class OnLines(SwarmCase):
    """Volunteers with a line each, which their preferences limit to this rate both ways."""

    VOLUNTEERS = 2
    MBIT = MBIT
    # Text that takes longer to download, and a vector that takes longer to average, than the measurement lasts.
    TRAIN_BYTES = 4_800_000
    SETTINGS = {"codec": "fp32", "model": {"layers": 4, "width": 128, "heads": 2, "context": 64}}

    @classmethod
    def prepare(cls):
        cls.internet = homes.Internet(cls.swarm.logs / "namespaces.log", cls.VOLUNTEERS)
        cls.addClassCleanup(cls.internet.stop)
        cls.internet.core.run("ip", "link", "set", "net", "gso_max_segs", 1)
        cls.swarm.coordinator = NatCoordinator(cls.folder / "coordinator", cls.swarm.logs / "coordinator.log",
                                               cls.internet.core)
        for number, volunteer in enumerate(cls.swarm.volunteers):
            router = cls.internet.routers[number]  # it has an address that others can dial
            router.run("ip", "link", "set", "wan", "gso_max_segs", 1)
            cls.internet.core.run("ip", "link", "set", f"home{number}", "gso_max_segs", 1)
            command = [part if part != "127.0.0.1" else "0.0.0.0" for part in volunteer.daemon.command]
            volunteer.daemon.command = router.inside(*command)
            volunteer.PREFERENCES = {**volunteer.PREFERENCES, "upload_max_mbit_s": cls.MBIT,
                                     "download_max_mbit_s": cls.MBIT}

    def inside(self, *command):
        return subprocess.run(self.internet.routers[0].inside(*command), capture_output=True, text=True,
                              check=True).stdout

    def counted(self):
        """Bytes that the first volunteer has sent and received, and the two moments between which they were read."""
        before = time.monotonic()
        stats = json.loads(self.inside("ip", "-json", "-stats", "link", "show", "wan"))[0]["stats64"]
        return stats["tx"]["bytes"], stats["rx"]["bytes"], before, time.monotonic()

    def status_when(self, condition, what):
        def met():
            status = self.swarm.volunteers[0].status()
            return status is not None and condition(status) and status

        return programs.wait_until(met, what)

    def status(self):
        return self.status_when(lambda status: True, "the volunteer answers")  # a busy machine delays it


@unittest.skipIf(homes.missing(), homes.missing())
class Line(OnLines):
    def shares(self, seconds=WINDOW_S):
        """Bytes sent and received over a time, as shares of the limits: each at least, and at most. A busy machine may
        read the counters late."""
        sent, received, earliest, began = self.counted()
        time.sleep(seconds)  # the length of the measurement, not a wait for anything
        sent_then, received_then, ended, latest = self.counted()
        least, most = BYTES_PER_S * (latest - earliest), BYTES_PER_S * (ended - began)
        sent, received = sent_then - sent, received_then - received
        if max(sent, received) > least * (1 + WITHIN):
            print(self.inside("ss", "-tinH"))  # by connection
        return [(amount / least, amount / most) for amount in (sent, received)]

    def downloads(self, status):
        return "downloading the training data" in status["reason"]

    def test_1_a_download_takes_what_is_allowed_and_no_more(self):
        self.status_when(self.downloads, "the volunteer downloads the data")
        for _ in range(2):  # a computer that stands still for a second leaves more
            time.sleep(1)  # the burst allowed after a rest has passed
            sent, received = self.shares()
            self.assertTrue(self.downloads(self.status()), "it was downloading all the time")
            print(f"downloading: sent {sent[0]:.4f} and received {received[0]:.4f} of the limits")
            self.assertLess(max(sent[0], received[0]), 1 + WITHIN)
            if received[1] > USED:
                return
        self.fail("the limit was not used")

    def test_2_so_does_averaging(self):
        volunteer = self.swarm.volunteers[0]
        self.wait_for_rounds([volunteer], 1)

        def averages(status):
            return status["phase"] == "averaging"

        for _ in range(4):  # a round may end meanwhile, or the computer stand still
            # If the first round went on without the other volunteer, that one loads the state first: 80 s on such a
            # line.
            round_before = self.status_when(averages, "the volunteer averages")["round"]
            time.sleep(1)
            sent, received = self.shares()
            status = self.status()
            print(f"averaging: sent {sent[0]:.4f} and received {received[0]:.4f} of the limits")
            self.assertLess(max(sent[0], received[0]), 1 + WITHIN)
            if averages(status) and status["round"] == round_before and max(sent[1], received[1]) > USED:
                return
        self.fail("no round took longer than is measured, or the limit was not used")

    def test_3_a_limit_that_leaves_no_time_for_rounds_is_warned_of(self):
        done = self.swarm.volunteers[0].command("prefs", "set", "upload_max_mbit_s", "0.5")
        self.assertIn("too low for this run", done.stderr)
        done = self.swarm.volunteers[0].command("prefs", "set", "upload_max_mbit_s", "none")
        done = self.swarm.volunteers[0].command("prefs", "set", "download_max_mbit_s", "none")
        self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    suite.main()
