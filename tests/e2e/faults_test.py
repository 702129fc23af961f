#!/usr/bin/env python3
"""Mistakes of a volunteer or an operator, and failures around them: a clear error each time, and no loss."""

import os
import shutil
import tempfile
import time
import unittest
from pathlib import Path

import programs
import suite
from swarm import write_run
from swarm_case import RUN_ID, SETTINGS, small_corpus

REFUSED, NO_DAEMON = 1, 3  # exit codes of the command `starling`


class WithFolder(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="starling-e2e-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def coordinator(self, name="project"):
        coordinator = programs.Coordinator(self.folder / name, self.folder / f"{name}.log")
        coordinator.first_link = coordinator.init(name)
        self.addCleanup(coordinator.server.stop)
        return coordinator

    def volunteer(self, name="ada"):
        volunteer = programs.Volunteer(name, self.folder / name, self.folder / f"{name}.log")
        self.addCleanup(volunteer.daemon.stop)
        return volunteer

    def assert_refused(self, done, *words):
        """The command failed, gave a reason in plain words, and did not crash."""
        message = done.stderr
        self.assertGreater(done.returncode, 0, f"it should have failed: {done.stdout}")
        for word in words:
            self.assertRegex(message.lower(), word.lower())


class Joining(WithFolder):
    def setUp(self):
        super().setUp()
        self.project = self.coordinator()
        self.project.serve()
        self.ada = self.volunteer()
        self.ada.start()

    def join(self, link):
        return self.ada.join(link, check=False)

    def test_a_wrong_invite_is_refused(self):
        link = self.project.first_link
        code = link.rpartition("invite=")[2]
        self.assert_refused(self.join(link.replace(code, "A" * len(code))), "invite")

    def test_a_used_up_invite_is_refused(self):
        link = self.project.new_invite("--uses", 1)
        self.ada.join(link)
        bob = self.volunteer("bob")
        bob.start()
        self.assert_refused(bob.join(link, check=False), "invite")

    def test_an_expired_invite_is_refused(self):
        link = self.project.new_invite("--expires", "1s")
        expired = time.monotonic() + 1.1
        programs.wait_until(lambda: time.monotonic() > expired, "the invite expires")
        self.assert_refused(self.join(link), "invite", "expired")

    def test_a_link_with_another_projects_fingerprint_is_refused(self):
        other = self.coordinator("other")
        ours, theirs = (p.first_link.partition("ca=")[2].partition("&")[0] for p in (self.project, other))
        self.assert_refused(self.join(self.project.first_link.replace(ours, theirs)), "not the project that the join link names")

    def test_a_link_that_is_no_link_is_refused(self):
        self.assert_refused(self.join("http://example.org/"), "link|starling://")

    def test_a_name_that_is_taken_is_refused(self):
        link = self.project.new_invite("--uses", 2)
        self.ada.join(link)
        bob = self.volunteer("bob")
        bob.name = "ada"
        bob.start()
        self.assert_refused(bob.join(link, check=False), "name")

    def test_a_project_that_is_away_is_a_clear_error(self):
        link = self.project.first_link
        self.project.server.stop()
        done = self.join(link)
        self.assert_refused(done, "connect|reach|refused")
        self.assertEqual(done.returncode, REFUSED)


class OneMachine(WithFolder):
    def test_two_daemons_on_one_data_directory(self):
        ada = self.volunteer()
        ada.start()
        second = programs.run_command("starlingd", "--data-dir", ada.folder, check=False)
        self.assert_refused(second, "another|already|running")
        self.assertIsNotNone(ada.status(), "the first one goes on")

    def test_a_data_directory_that_cannot_be_written(self):
        blocker = self.folder / "file"
        blocker.write_text("not a folder")
        done = programs.run_command("starlingd", "--data-dir", blocker / "data", check=False)
        self.assert_refused(done, str(blocker), "not a directory")

    def test_without_a_daemon_the_command_line_says_so(self):
        done = self.volunteer().command("status", check=False)
        self.assert_refused(done, "starlingd|daemon")
        self.assertEqual(done.returncode, NO_DAEMON)

    def test_a_port_in_use(self):
        first = self.coordinator()
        first.serve()
        second = self.coordinator("second")
        second.command("init", self.folder / "third", "--name", "third", "--listen", first.address)
        done = second.command("serve", self.folder / "third", check=False)
        self.assert_refused(done, first.address.rpartition(":")[2], "in use")

    def test_a_project_is_not_made_over_another(self):
        project = self.coordinator()
        before = sorted(path.name for path in project.folder.iterdir())
        done = project.command("init", project.folder, "--name", "again", "--listen", project.address, check=False)
        self.assert_refused(done, "already|exist")
        self.assertEqual(sorted(path.name for path in project.folder.iterdir()), before)

    def test_a_corrupt_database_is_named_and_kept(self):
        project = self.coordinator()
        database = next(path for path in project.folder.rglob("*") if path.suffix in (".db", ".sqlite", ".sqlite3"))
        whole = database.read_bytes()
        middle = len(whole) // 2
        for damaged in (b"this is no database" * 1000, whole[:middle] + bytes(4096) + whole[middle + 4096:]):
            database.write_bytes(damaged)
            done = project.command("serve", project.folder, check=False)
            self.assert_refused(done, database.name, "not a database|corrupt|malformed|damaged")
            self.assertEqual(database.read_bytes(), damaged)


class Manifests(WithFolder):
    def create(self, change):
        path = write_run(self.folder / "run", small_corpus(), {**SETTINGS, **change})
        return self.project.command("run", "create", self.project.folder, path, check=False)

    def setUp(self):
        super().setUp()
        self.project = self.coordinator()

    def test_a_good_one_is_taken_once(self):
        self.assertEqual(self.create({}).returncode, 0)
        self.assert_refused(self.create({}), RUN_ID, "exist|already")

    def test_an_unknown_field_is_named(self):
        self.assert_refused(self.create({"model": {"layres": 3}}), "layres")

    def test_a_value_out_of_range_is_named(self):
        self.assert_refused(self.create({"model": {"layers": -1}}), "layers")

    def test_data_that_is_not_there_is_named(self):
        path = write_run(self.folder / "run", small_corpus(), SETTINGS)
        os.remove(self.folder / "run/train.txt")
        done = self.project.command("run", "create", self.project.folder, path, check=False)
        self.assert_refused(done, "train.txt", "no such file")


if __name__ == "__main__":
    suite.main()
