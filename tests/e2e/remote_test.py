#!/usr/bin/env python3
"""A daemon is controlled from another computer: over TLS, by holders of the token, and only if its owner allowed it."""

import json
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import programs
import suite


class Remote(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.volunteer = programs.Volunteer("swan", cls.folder / "swan", cls.folder / "swan.log")
        cls.volunteer.start()
        cls.addClassCleanup(cls.volunteer.daemon.stop)

    def enable(self):
        """Opens remote control; returns the data that callers need."""
        door = json.loads(self.volunteer.command("--json", "remote", "enable", "--port", "0").stdout)["remote"]
        token = self.folder / "token"
        token.write_text(door["token"] + "\n")
        return ["--daemon", f"127.0.0.1:{door['port']}#{door['fingerprint']}", "--token-file", token]

    def test_1_nothing_listens_until_it_is_asked_for(self):
        self.assertIn("cannot control this daemon", self.volunteer.command("remote", "show").stdout)
        pid = self.volunteer.daemon.process.pid
        listening = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True, check=True).stdout
        self.assertNotIn(f"pid={pid},", listening)

    def test_2_every_command_works_from_elsewhere(self):
        there = self.enable()
        here = self.volunteer.command("remote", "show").stdout
        self.assertRegex(here, r"listening on 127\.0\.0\.1 port \d+; 0 connected")
        self.assertNotIn((self.folder / "token").read_text().strip(), here)
        self.assertIn("Paused", programs.run_command("starling", *there, "pause", "--reason", "a film").stdout)
        self.assertTrue(self.volunteer.status()["paused"])
        self.assertIn("Log", programs.run_command("starling", *there, "report").stdout.title())
        findings = json.loads(programs.run_command("starling", *there, "--json", "doctor", check=False).stdout)
        self.assertTrue(findings["findings"])
        programs.run_command("starling", *there, "prefs", "set", "threads_max", "1")
        self.assertEqual(self.volunteer.command("prefs", "get", "threads_max").stdout, "1\n")
        refused = programs.run_command("starling", *there, "remote", "disable", check=False)
        self.assertEqual((refused.returncode, "own computer" in refused.stderr), (1, True), refused.stderr)

    def test_3_news_come_as_they_happen(self):
        there = self.enable()
        follower = subprocess.Popen([programs.BIN / "starling", *there, "status", "--follow", "--json"],
                                    stdout=subprocess.PIPE, text=True)
        try:
            self.assertTrue(json.loads(follower.stdout.readline())["paused"])
            self.volunteer.command("resume")
            while json.loads(follower.stdout.readline())["paused"]:
                pass
            self.volunteer.command("remote", "disable")
            self.volunteer.command("pause")  # a change of which admitted callers no longer hear
            self.assertNotIn('"paused":true', follower.stdout.read())
            self.assertEqual(follower.wait(), 3)
        finally:
            follower.kill()
            follower.wait()
            follower.stdout.close()

    def test_4_a_wrong_token_and_a_wrong_daemon_are_refused(self):
        there = self.enable()
        wrong = self.folder / "wrong"
        wrong.write_text("0" * 64)
        refused = programs.run_command("starling", *there[:3], wrong, "status", check=False)
        self.assertEqual((refused.returncode, "does not know this token" in refused.stderr), (1, True), refused.stderr)
        other = re.sub("#.", "#" + ("0" if "#1" in there[1] else "1"), there[1])
        refused = programs.run_command("starling", "--daemon", other, *there[2:], "status", check=False)
        self.assertEqual((refused.returncode, "not the daemon" in refused.stderr), (1, True), refused.stderr)
        usage = programs.run_command("starling", "--daemon", there[1], "status", check=False)
        self.assertEqual(usage.returncode, 2)

    def test_5_the_door_is_as_it_was_when_the_daemon_was_killed(self):
        there = self.enable()
        self.volunteer.daemon.kill()
        away = programs.run_command("starling", *there, "status", check=False)
        self.assertEqual(away.returncode, 3, away.stderr)
        self.volunteer.start()
        self.assertEqual(programs.run_command("starling", *there, "status").returncode, 0)
        self.assertNotIn((self.folder / "token").read_text().strip(), (self.folder / "swan.log").read_text())


if __name__ == "__main__":
    suite.main()
