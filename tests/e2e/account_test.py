#!/usr/bin/env python3
"""Accounts from the command line: made with a password, logged in to from other computers, and refused."""

import json
import os
import pty
import tempfile
import unittest
from pathlib import Path

import programs
import suite

PASSWORD = "swan lake at dusk"


class Accounts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.coordinator = programs.Coordinator(cls.folder / "project", cls.folder / "coordinator.log")
        cls.link = cls.coordinator.init("Poems")
        cls.link = cls.coordinator.new_invite("--uses", "9")
        cls.coordinator.serve()
        cls.addClassCleanup(cls.coordinator.server.stop)
        cls.password = cls.folder / "password"
        cls.password.write_text(PASSWORD + "\n")

    def computer(self, name):
        volunteer = programs.Volunteer(name, self.folder / name, self.folder / f"{name}.log")
        self.addCleanup(volunteer.daemon.stop)
        volunteer.start()
        return volunteer

    def joins(self, volunteer, *arguments, **options):
        return volunteer.command("join", self.link, *arguments, **options)

    def user(self, name):
        return self.coordinator.command("users", "show", self.coordinator.folder, name).stdout

    def test_1_an_account_is_made_and_opened_from_a_second_computer(self):
        first = self.computer("desk")
        made = self.joins(first, "--name", "Ada", "--email", "ada@example.org", "--password-file", self.password)
        self.assertEqual(made.stdout, "Joined 'Poems' as 'Ada'.\n")
        self.assertIn("ada@example.org (not confirmed)", self.user("Ada"))
        second = self.computer("laptop")
        by_address = ("--name", "ada@example.org", "--password-file", self.password)
        refused = self.joins(second, *by_address, check=False)  # the address has not been verified yet
        self.assertEqual(refused.returncode, 1)
        self.coordinator.command("users", "confirm-email", self.coordinator.folder, "Ada")
        self.joins(second, *by_address)
        self.assertEqual(second.status()["display_name"], "Ada")
        shown = self.user("Ada").splitlines()
        self.assertIn("on probation: 0 of 10 rounds confirmed", shown)
        self.assertIn("may have 8 computers", shown)
        self.assertEqual(len(shown), 7)  # two computers, below five lines
        for file in [*(self.folder / "desk").rglob("*"), *self.folder.glob("*.log")]:
            if file.is_file():
                self.assertNotIn(PASSWORD.encode(), file.read_bytes(), file)

    def test_2_a_wrong_password_joins_nothing(self):
        volunteer = self.computer("stranger")
        wrong = self.folder / "wrong"
        wrong.write_text("swan lake at dawn\n")
        refused = self.joins(volunteer, "--name", "Ada", "--password-file", wrong, check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("password", refused.stderr)
        self.assertEqual(volunteer.status()["projects"], 0)

    def test_3_a_password_is_asked_for_at_the_terminal_and_not_shown(self):
        volunteer = self.computer("terminal")
        command = [programs.BIN / "starling", "--data-dir", volunteer.folder, "join", self.link, "--name", "Grace",
                   "--email", "grace@example.org"]
        child, terminal = pty.fork()
        if child == 0:
            os.execv(command[0], [str(part) for part in command])
        shown = b""
        try:
            for question in (b"Password: ", b"The same again: "):
                while not shown.endswith(question):
                    shown += os.read(terminal, 1024)
                os.write(terminal, PASSWORD.encode() + b"\n")
            while piece := os.read(terminal, 1024):
                shown += piece
        except OSError:
            pass  # the terminal of a program that has ended
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0, shown)
        self.assertIn(b"Joined 'Poems' as 'Grace'.", shown)
        self.assertNotIn(PASSWORD.encode(), shown)
        self.assertIn("grace@example.org", self.user("Grace"))


    def test_4_teams_are_founded_joined_and_left(self):
        first, second = self.computer("swan"), self.computer("tern")
        self.joins(first, "--name", "Swan")
        self.joins(second, "--name", "Tern")
        self.assertIn("you are in no team", first.command("team", "show").stdout)
        founded = json.loads(first.command("--json", "team", "found", "Birds").stdout)["team"]
        self.assertEqual((founded["name"], founded["founder"], founded["members"]), ("Birds", "Swan", 1))
        taken = second.command("team", "found", "birds", check=False)
        self.assertEqual((taken.returncode, "already" in taken.stderr), (1, True), taken.stderr)
        self.assertRegex(second.command("team", "join", "birds").stdout, r"Birds, founded by Swan\n +members +2\n")
        self.assertIn("no team", first.command("team", "leave").stdout)
        self.assertRegex(second.command("team", "show").stdout, r"members +1\n")
        refused = first.command("team", "join", "Fish", check=False)
        self.assertEqual((refused.returncode, "no team 'Fish'" in refused.stderr), (1, True), refused.stderr)


if __name__ == "__main__":
    suite.main()
