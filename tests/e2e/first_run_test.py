#!/usr/bin/env python3
"""A volunteer's first minute through the window: from pasting a join link to the first accepted sample, and to an
account."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import programs
import suite
from swarm_case import SwarmCase

FIRST_RUN = Path(os.environ.get("STARLING_TESTS", programs.BIN.parent / "tests")) / "gui_first_run"
ACCOUNT = FIRST_RUN.with_name("gui_account")
CLICKS_MAX = 12
PASSWORD = "swan lake at dusk"


def walk_through(case, coordinator, volunteer, who, *goal):
    """Runs the wizard in a new volunteer's window, which is closed at the goal. Returns the measurement, or None if it
    gave up."""
    volunteer.folder.mkdir(mode=0o700)
    (volunteer.folder / "preferences.json").write_text(json.dumps(volunteer.PREFERENCES))
    case.addCleanup(volunteer.command, "stop", check=False)  # its daemon has no parent here
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "XDG_CONFIG_HOME": str(case.folder / "config")}
    command = [FIRST_RUN, f"Join us: {coordinator.new_invite()}", volunteer.folder, programs.BIN / "starlingd",
               json.dumps(who), *goal]
    done = subprocess.run(command, capture_output=True, text=True, timeout=programs.EVENT_WITHIN_S, check=False, env=environment)
    print(done.stdout if done.returncode == 0 else done.stderr, end="")
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


class FirstRun(SwarmCase):
    VOLUNTEERS = 1  # one volunteer trains already

    def test_the_wizard_leads_to_an_accepted_sample(self):
        volunteer = programs.Volunteer("Ada", self.folder / "Ada", self.folder / "logs" / "Ada.log")
        took = walk_through(self, self.swarm.coordinator, volunteer, [{"name": "Ada"}], "accepted")
        self.assertIsNotNone(took)
        self.assertEqual(took["refused"], [])
        self.assertLessEqual(took["clicks"], CLICKS_MAX)
        # The window is gone, and training continues.
        status = volunteer.status()
        self.assertEqual((status["display_name"], status["project"]), ("Ada", "End to end"))
        self.assertGreater(status["samples_credited"], 0)
        self.wait_for_rounds([volunteer], 1)


class WithAnAccount(unittest.TestCase):
    """Each test is a computer; refusals are shown in the window's language, and can be corrected there."""

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="starling-e2e-")))
        cls.coordinator = programs.Coordinator(cls.folder / "project", cls.folder / "coordinator.log")
        cls.coordinator.init("Poems")
        cls.coordinator.serve()
        cls.addClassCleanup(cls.coordinator.server.stop)

    def joins(self, computer, who, *options):
        volunteer = programs.Volunteer(computer, self.folder / computer, self.folder / f"{computer}.log")
        took = walk_through(self, self.coordinator, volunteer, who, "joined", *options)
        self.assertIsNotNone(took)
        self.assertEqual(volunteer.status()["display_name"], "Ada")
        for file in [*volunteer.folder.rglob("*"), *self.folder.glob("*.log")]:
            if file.is_file():
                self.assertNotIn(PASSWORD.encode(), file.read_bytes(), file)
        return took["refused"]

    def test_3_teams_are_founded_left_and_joined_on_the_account_page(self):
        volunteer = programs.Volunteer("laptop", self.folder / "laptop", self.folder / "laptop.log")
        self.addCleanup(volunteer.daemon.stop)
        volunteer.start()
        done = subprocess.run([ACCOUNT, volunteer.folder, "en", "+Birds", "-", "Fish", "+Birds"], capture_output=True, text=True,
                              timeout=programs.EVENT_WITHIN_S, check=False, env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})
        self.assertEqual(done.returncode, 0, done.stderr)
        founded, left, refused, again = done.stdout.splitlines()
        self.assertRegex(founded, r"^<b>Birds</b>, founded by Ada: 1 member, 0 credit")
        self.assertIn(f"href='{self.coordinator.url}team/", founded)
        self.assertEqual(left, "You are in no team. Teams count together what their members contribute.")
        self.assertEqual(refused, "That did not work: There is no team “Fish”.")
        self.assertRegex(again, r"^<b>Birds</b>, founded by Ada: 1 member")

    def computers(self):
        return self.coordinator.command("users", "show", self.coordinator.folder, "Ada").stdout.splitlines()

    def test_1_an_account_is_made_after_what_was_wrong_is_mended(self):
        account = {"name": "Ada", "password": PASSWORD, "email": "ada@example.org"}
        self.assertEqual(self.joins("desk", [{**account, "password": "short"}, {**account, "email": "ada@home"}, account]),
                         ["That did not work: The password is too short: it needs 10 letters or more. Some words in a row "
                          "do well.",
                          "That did not work: This is no e-mail address. One looks like ada@example.org."])
        self.assertIn("ada@example.org (not confirmed)", "\n".join(self.computers()))

    def test_2_a_second_computer_logs_in_with_its_password_by_the_keyboard_alone(self):
        before = len(self.computers())
        taken, wrong = self.joins("laptop", [{"name": "Ada"}, {"name": "Ada", "password": "swan lake at dawn"},
                                             {"name": "Ada", "password": PASSWORD}], "ru", "keys")
        self.assertRegex(taken, "^Не получилось: Имя «Ada» занято. Возможно, свободно «Ada [0-9]+».$")
        self.assertTrue(wrong.startswith("Не получилось: Имя или адрес и пароль не подходят друг к другу."), wrong)
        self.assertEqual(len(self.computers()), before + 1)


if __name__ == "__main__":
    suite.main()
