#!/usr/bin/env python3
"""A run that needs more memory than its volunteer allows is declined at once, with one clear reason and its remedy."""

import os

import programs
import suite
from swarm_case import SwarmCase

MEMORY_BYTES = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
PROGRAMS_BYTES = 200e6  # used by the programs without a model
LAYERS = 4
VECTORS = 8  # parameters, two moments, and five vectors that rounds pass through


def width_that_takes(memory_bytes):
    """The width of a gpt whose blocks have 12 parameters for each square of the width."""
    return int((memory_bytes / (4 * VECTORS * 12 * LAYERS)) ** 0.5) // 8 * 8


class MemorySwarm(SwarmCase):
    VOLUNTEERS = 1
    # Some 7 % of the machine's memory.
    SETTINGS = {"model": {"layers": LAYERS, "width": width_that_takes(0.07 * MEMORY_BYTES - PROGRAMS_BYTES), "heads": 8,
                          "context": 64}}

    @classmethod
    def prepare(cls):
        cls.volunteer = cls.swarm.volunteers[0]
        cls.volunteer.PREFERENCES = {**cls.volunteer.PREFERENCES, "memory_idle_percent": 5, "memory_in_use_percent": 5}

    def declined(self):
        status = self.volunteer.status()
        return status if status and "more memory" in status["reason"] else None

    def test_1_it_is_declined_before_anything_is_downloaded_and_nothing_dies(self):
        status = programs.wait_until(self.declined, "the volunteer declines")
        self.assertEqual(status["phase"], "preparing")
        self.assertIn("your limits leave", status["reason"])
        self.assertEqual(status["ends_when"], "you allow more memory")
        shown = self.volunteer.command("status").stdout
        self.assertIn("to do", shown)
        self.assertIn("starling prefs set memory_idle_percent", shown)
        artefacts = self.volunteer.folder / "artefacts"
        self.assertFalse(artefacts.exists() and any(artefacts.iterdir()))
        self.assertEqual(self.swarm.died(), [])

    def test_2_what_the_reason_advises_is_enough(self):
        percent = self.declined()["rules"]["action_command"].split()[-1]
        self.volunteer.command("prefs", "set", "memory_idle_percent", percent)
        programs.wait_until(lambda: self.volunteer.status()["phase"] in ("evaluating", "training"), "it computes")


if __name__ == "__main__":
    suite.main()
