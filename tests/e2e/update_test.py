#!/usr/bin/env python3
"""A volunteer's daemon that updates itself from a web host, for a run that needs a newer version: past feeds and
downloads that must not be trusted, over versions that do not work, to the one that trains."""

import json
import os
import unittest
from pathlib import Path

import disk_test
import programs
import releases
import suite
from swarm_case import SwarmCase

NEXT = Path(os.environ.get("STARLING_NEXT", programs.ROOT / "build/release/tests/starlingd_next"))
OLD_VERSION = programs.run_command("starlingd", "--version").stdout.strip()
NEXT_VERSION = "99.0.0"  # the version that NEXT reports
DISK_MB = 160


def failing_daemon():
    return "#!/bin/sh\necho 'liboak.so.7: cannot open shared object file' >&2\nexit 127\n"


def renamed_daemon(version):
    """A program of another version that works as NEXT does."""
    return f"""#!/bin/sh
case "$*" in
  *--self-check*) echo 'starlingd {version} works here' ;;
  *) exec "$(dirname "$(readlink -f "$0")")/starlingd.real" "$@" ;;
esac
"""


@unittest.skipUnless(disk_test.INSIDE in os.environ, "this system does not let us mount a small disk")
class Updates(SwarmCase):
    VOLUNTEERS = 2
    SETTINGS = {"client_min": "99.0.0"}

    @classmethod
    def prepare(cls):
        cls.host = releases.StaticHost(cls.folder / "host")
        cls.addClassCleanup(cls.host.stop)
        cls.releases = releases.Releases(cls.folder / "releases", cls.host)
        cls.root = cls.folder / "installation"
        cls.disk = disk_test.SmallDisk(cls.root, DISK_MB)
        cls.addClassCleanup(cls.disk.unmount)
        releases.lay_out(cls.root, OLD_VERSION, {name: programs.BIN / name for name in ("starlingd", "starling-trainer")})
        source = cls.folder / "updates.json"
        cls.releases.source(source)
        cls.old, cls.newer = cls.swarm.volunteers
        cls.old.daemon.command[0] = str(cls.root / "current/bin/starlingd")
        cls.old.daemon.command += ["--updates", str(source)]
        cls.newer.daemon.command[0] = str(NEXT)
        cls.newer.daemon.command += ["--trainer", str(programs.BIN / "starling-trainer")]
        stranger = releases.Releases(cls.folder / "strangers", cls.host)
        cls.releases.feed(NEXT_VERSION, key=stranger.key)
        cls.addClassCleanup(cls.swarm.stop)

    def look(self, *options):
        return self.old.command("update", *options, check=False)

    def assert_refused(self, words):
        done = self.look()
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(words, done.stderr)
        self.assert_unchanged()

    def assert_unchanged(self, version=OLD_VERSION):
        self.assertEqual(os.readlink(self.root / "current"), f"versions/{version}")
        self.assertEqual(self.old.status()["version"], version)
        self.assertFalse((self.root / "incoming").exists())

    def update_state(self):
        status = self.old.status()
        return status["update"]["state"] if status else None

    def wait_for_failure(self, words):
        def failed():
            update = self.old.status()["update"]
            return update["state"] == "failed" and words in update["text"]

        programs.wait_until(failed, f"the update fails: {words}")
        self.assert_unchanged()

    def next_archive(self):
        trainer = programs.BIN / "starling-trainer"
        return self.releases.archive(NEXT_VERSION, {"starlingd": NEXT, "starling-trainer": trainer})

    def test_01_a_run_for_newer_versions_says_so(self):
        def told():
            return self.old.status()["update"]["required"]

        self.assertEqual(programs.wait_until(told, "the daemon says that it is too old"), "99.0.0")
        said = self.old.command("status").stdout
        self.assertIn(f"this run needs Starling 99.0.0 or newer, and this is {OLD_VERSION}", said)
        self.assertIn("to do      update Starling to 99.0.0 or newer", said)

    def test_02_a_feed_of_another_key_is_refused(self):
        self.assert_refused("it is signed with another key")

    def test_03_a_feed_that_was_changed_is_refused(self):
        path = self.releases.feed(NEXT_VERSION)
        path.write_text(path.read_text().replace(NEXT_VERSION, "99.9.9"))
        self.assert_refused("look for updates at localhost")
        path.write_bytes(path.read_bytes()[:100])
        self.assert_refused("look for updates at localhost")
        path.unlink()
        self.assert_refused("HTTP status 404")

    def test_04_a_download_that_ends_early_is_not_installed(self):
        archive = self.next_archive()
        self.releases.feed(NEXT_VERSION, archive)
        self.host.cut_after = archive.stat().st_size // 3
        self.assertIn("will be installed", self.look().stdout)
        self.wait_for_failure("download the update")
        self.host.cut_after = None

    def test_05_a_download_of_other_bytes_is_not_installed(self):
        archive = self.host.files / f"starling-{NEXT_VERSION}-{releases.PLATFORM}.tar.gz"
        content = bytearray(archive.read_bytes())
        content[-1000] ^= 1
        archive.write_bytes(content)
        self.look()
        self.wait_for_failure("the bytes that came are not those of digest")
        content[-1000] ^= 1
        archive.write_bytes(content)

    def test_06_a_full_disk_stops_the_download_and_nothing_else(self):
        archive = self.host.files / f"starling-{NEXT_VERSION}-{releases.PLATFORM}.tar.gz"
        self.host.hold_after = archive.stat().st_size // 2
        self.look()
        programs.wait_until(lambda: self.host.requests[-1][0].endswith(".gz"), "it downloads")
        part = self.root / "downloads" / (archive.name + ".part")
        programs.wait_until(lambda: part.exists() and part.stat().st_size == self.host.hold_after, "half of it is here")
        self.disk.fill()
        self.host.go_on.set()
        self.wait_for_failure("No space left on device")
        self.look()
        self.wait_for_failure("MB are free")
        self.disk.free()
        self.host.go_on.clear()

    def test_07_a_daemon_killed_in_a_download_goes_on_with_it(self):
        archive = self.host.files / f"starling-{NEXT_VERSION}-{releases.PLATFORM}.tar.gz"
        part = self.root / "downloads" / (archive.name + ".part")
        part.unlink(missing_ok=True)
        self.look()
        programs.wait_until(lambda: part.exists() and part.stat().st_size == self.host.hold_after, "half of it is here")
        self.old.daemon.kill()
        self.host.go_on.set()
        half = self.host.hold_after
        self.host.hold_after = None
        # A version that does not work comes in between.
        broken = self.releases.archive("98.0.0", {"starlingd": failing_daemon()})
        self.releases.feed("98.0.0", broken)
        self.old.start()
        self.look()
        self.wait_for_log(self.old.daemon, "liboak.so.7: cannot open shared object file")
        programs.wait_until(lambda: self.old.status() is not None, "the old version goes on")
        self.assert_unchanged()
        self.assertIn("did not work on this computer", self.look().stderr)

        before = self.old.status()
        process = self.old.daemon.process.pid
        self.releases.feed(NEXT_VERSION, archive)
        self.look()
        programs.wait_until(lambda: (self.old.status() or {}).get("version") == NEXT_VERSION, "the new version runs")
        self.assertIn(("/" + archive.name, half), self.host.requests)
        self.assertTrue(self.old.daemon.running())
        self.assertEqual(self.old.daemon.process.pid, process)
        after = self.old.status()
        self.assertEqual(after["peer"], before["peer"])
        self.assertEqual(after["update"]["required"], "")
        self.wait_for_rounds(self.swarm.volunteers, 3)

    def test_08_an_old_feed_is_not_believed_again(self):
        path = self.host.files / "feed.json"
        newest = path.read_bytes()
        self.assertIn("newest version", self.look().stdout)
        old = json.loads(newest)
        self.releases.feed("99.0.1")
        fresh = path.read_bytes()
        self.assertIn("99.0.1 is out", self.look().stdout)
        path.write_bytes(newest)
        done = self.look()
        self.assertIn("an old one", done.stderr)
        self.assertIn(NEXT_VERSION, old["feed"])
        path.write_bytes(fresh)

    def test_09_an_installation_of_one_key_goes_over_to_three_and_never_back(self):
        self.releases.make_root("anna", "ben", "clara", signers=("anna", "clara"))
        self.releases.feed("99.0.2")  # by the one key alone
        self.assertIn("it has 0 of 2 signatures; missing: 2 more of anna, ben, clara", self.look().stderr)
        self.releases.joint_feed("99.0.2", signers=["ben"])
        self.assertIn("it has 1 of 2 signatures (ben); missing: 1 more of anna, clara", self.look().stderr)
        self.releases.joint_feed("99.0.2", signers=["ben", "clara"])
        self.assertIn("99.0.2 is out", self.look().stdout)
        # The host forgets it, the installation does not.
        self.releases.newest_root = self.releases.newest_root.rename(self.releases.folder / "root.1.json")
        self.releases.feed("99.0.3")
        self.assertIn("it has 0 of 2 signatures", self.look().stderr)

    def test_10_a_release_signed_after_a_lost_key_was_replaced_is_installed(self):
        """It waits for the end of the round."""
        self.releases.rotate(2, without="anna", by="dora")
        self.releases.sign_root("dora", "ben")
        self.assertIn("root.2.json: release root: by root version 1 it has 1 of 2 signatures (ben)", self.look().stderr)
        self.releases.sign_root("clara")
        trainer = programs.BIN / "starling-trainer"
        archive = self.releases.archive(
            "99.1.0", {"starlingd": renamed_daemon("99.1.0"), "starlingd.real": NEXT, "starling-trainer": trainer})
        self.releases.joint_feed("99.1.0", archive, signers=["dora", "clara"])
        rounds = self.rounds_of(self.old)
        before = self.newer.status()["rounds_failed"]
        self.look()
        programs.wait_until(lambda: os.readlink(self.root / "current") == "versions/99.1.0", "it has switched")
        programs.wait_until(lambda: self.old.status() is not None, "it answers")
        self.wait_for_rounds(self.swarm.volunteers, 3)
        self.assertGreater(self.rounds_of(self.old), rounds)
        self.assertEqual((self.old.status()["rounds_failed"], self.newer.status()["rounds_failed"]), (0, before))

    def test_11_a_version_that_keeps_dying_gives_way_to_the_one_before(self):
        for _ in range(3):  # the update itself was its first start
            self.assertEqual(os.readlink(self.root / "current"), "versions/99.1.0")
            self.old.daemon.kill()
            self.old.start()
        self.assertEqual(os.readlink(self.root / "current"), f"versions/{NEXT_VERSION}")
        self.assertIn("did not work on this computer", self.look().stderr)
        self.wait_for_rounds(self.swarm.volunteers, 3)

    def test_12_in_the_end_all_sides_agree(self):
        self.assert_all_sides_agree(6)


if __name__ == "__main__":
    disk_test.enter_private_mounts()
    suite.main()
