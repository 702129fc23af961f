#!/usr/bin/env python3
"""A volunteer's first minute through the window: from pasting a join link to the first accepted sample."""

import json
import os
import subprocess
import unittest
from pathlib import Path

import programs
from swarm_case import SwarmCase

FIRST_RUN = Path(os.environ.get("STARLING_TESTS", programs.BIN.parent / "tests")) / "gui_first_run"
CLICKS_MAX = 12
SECONDS_MAX = 120  # 60 on a computer that does nothing else


class FirstRun(SwarmCase):
    VOLUNTEERS = 1  # somebody trains already

    def test_the_wizard_leads_to_an_accepted_sample(self):
        folder = self.folder / "ada"
        folder.mkdir(mode=0o700)
        (folder / "preferences.json").write_text(json.dumps(programs.Volunteer.PREFERENCES))
        ada = programs.Volunteer("Ada", folder, self.folder / "logs" / "ada.log")
        self.addCleanup(ada.command, "stop", check=False)  # its daemon is nobody's child
        link = self.swarm.coordinator.new_invite()
        environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "XDG_CONFIG_HOME": str(self.folder / "config")}
        done = subprocess.run([FIRST_RUN, f"Join us: {link}", folder, programs.BIN / "starlingd"], capture_output=True,
                              text=True, timeout=2 * SECONDS_MAX, check=False, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        took = json.loads(done.stdout.splitlines()[-1])
        print(took)
        self.assertLessEqual(took["clicks"], CLICKS_MAX)
        self.assertLessEqual(took["seconds"], SECONDS_MAX)
        # The window is gone; training is not.
        status = ada.status()
        self.assertEqual((status["display_name"], status["project"]), ("Ada", "End to end"))
        self.assertGreater(status["samples_credited"], 0)
        self.wait_for_rounds([ada], 1)


if __name__ == "__main__":
    unittest.main()
