#!/usr/bin/env python3
"""The key that signs runs is replaced: volunteers' programs follow, and do not go back."""

import json
import sqlite3
import tempfile
import unittest
from pathlib import Path

import programs
import suite
from swarm import write_run
from swarm_case import RUN_ID, SETTINGS, small_corpus


class Keys(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.coordinator = programs.Coordinator(self.folder / "project", self.folder / "coordinator.log")
        link = self.coordinator.init("Poems")
        self.coordinator.create_run(write_run(self.folder / "run", small_corpus(), SETTINGS))
        self.coordinator.start_run(RUN_ID)
        self.coordinator.serve()
        self.addCleanup(self.coordinator.server.stop)
        self.volunteer = programs.Volunteer("ada", self.folder / "ada", self.folder / "ada.log")
        self.addCleanup(self.volunteer.daemon.stop)
        self.volunteer.start()
        self.volunteer.join(link)

    def key_kept(self):
        """The number of the key whose signature the volunteer trusted last; None before the first."""
        envelope = self.volunteer.folder / "manifest.json"
        if not envelope.exists():
            return None
        certificate = json.loads(envelope.read_text()).get("key_certificate")
        return json.loads(json.loads(certificate)["key"])["number"] if certificate else 0

    def look_again(self, times):
        """Restarts a program so that it looks at the run, once the server gives out a run signed again this many
        times."""
        programs.wait_until(lambda: self.coordinator.server.log().count("signed anew") == times, "the server follows")
        self.volunteer.daemon.stop()
        self.volunteer.start()

    def follows_to(self, number):
        programs.wait_until(lambda: self.key_kept() == number, f"the volunteer follows to key {number}")

    def kept_by_coordinator(self, envelope=None):
        """The envelope in the database; with an argument, replaces it, as a thief of a key and the server would."""
        with sqlite3.connect(self.coordinator.folder / "coordinator.db", timeout=10) as db:
            if envelope:
                db.execute("UPDATE run SET manifest_envelope = ?", (envelope,))
            kept, = db.execute("SELECT manifest_envelope FROM run").fetchone()
        db.close()
        return kept

    def keys(self, command, *arguments):
        return self.coordinator.command("keys", command, self.coordinator.folder, *arguments)

    def test_volunteers_follow_to_new_keys_and_never_back(self):
        self.follows_to(0)
        root = self.folder / "root.key"
        self.keys("offline", root)
        self.look_again(1)
        self.follows_to(1)
        stolen = self.kept_by_coordinator()
        self.keys("rotate", "--root", root)
        self.look_again(2)
        self.follows_to(2)
        self.kept_by_coordinator(stolen)
        self.look_again(3)
        programs.wait_until(lambda: "a key that the project has replaced" in self.volunteer.daemon.log(),
                            "the volunteer refuses the stolen key")
        self.assertEqual(self.key_kept(), 2)


if __name__ == "__main__":
    suite.main()
