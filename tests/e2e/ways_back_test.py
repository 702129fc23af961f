#!/usr/bin/env python3
"""The operator's ways back, on real processes: an earlier state, a log that tells who did what, roles, and a backup whose
keys a passphrase opens."""

import http.cookiejar
import re
import sqlite3
import ssl
import unittest
import urllib.error
import urllib.parse
import urllib.request

import programs
import results
import suite
from swarm_case import LITTLE_MODEL, RUN_ID, SwarmCase

COPY_EVERY = 3  # rounds; the next copy is a minute later
ROUNDS_GIVEN_UP = 4
PASSPHRASE = "correct horse battery staple"


class Browser:
    """A browser on the operator's page."""

    def __init__(self, port):
        self.root = f"https://localhost:{port}"
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE  # the page's certificate is the project's own
        self.cookies = http.cookiejar.CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context),
                                                  urllib.request.HTTPCookieProcessor(self.cookies))

    def open(self, path, fields=None):
        """The page's status and text."""
        data = urllib.parse.urlencode(fields).encode() if fields is not None else None
        try:
            with self.opener.open(self.root + path, data, timeout=20) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def post(self, path, on, **fields):
        """Sends a form with the token of the page that it is on."""
        token = re.search(r'name="form" value="([^"]+)"', self.open(on)[1]).group(1)
        return self.open(path, {"form": token, **fields})


class WaysBack(SwarmCase):
    VOLUNTEERS = 2
    SETTINGS = {"checkpoint_rounds": COPY_EVERY, "target_batch_size": 128, "model": LITTLE_MODEL}

    def command(self, *arguments, check=True):
        return programs.run_command("starling-coordinator", *arguments, check=check)

    def project(self):
        return self.swarm.coordinator.folder

    def passphrase(self):
        """The file with the backups' passphrase."""
        file = self.folder / "passphrase"
        file.write_text(PASSPHRASE + "\n")
        return file

    def row(self, sql, *values):
        return self.swarm.coordinator.rows(sql, *values)[0]

    def round(self):
        return self.row("SELECT round FROM run")[0]

    def wait_for_round(self, number):
        programs.wait_until(lambda: self.round() >= number, f"round {number}")

    def wait_for_a_joint_round_from(self, first):
        """Waits for a round with both volunteers: both hold one state again."""
        def joint():
            return self.swarm.coordinator.rows(
                "SELECT round FROM contribution WHERE round >= ? AND reverses IS NULL GROUP BY round "
                "HAVING count(DISTINCT account_id) = 2", first)

        programs.wait_until(joint, f"a round of both from round {first} on")

    def roll_back(self, to, *more, check=True):
        return self.command("run", "rollback", self.project(), RUN_ID, "--to", to, *more, check=check)

    def samples(self, first, last):
        """The ledger's sum over these rounds, reversals included."""
        return self.row("SELECT coalesce(sum(samples), 0) FROM contribution WHERE round BETWEEN ? AND ?", first, last)[0]

    def test_1_a_served_run_goes_back_and_its_credit_is_reversed(self):
        copies = "SELECT round, state_digest FROM checkpoint"
        programs.wait_until(lambda: self.swarm.coordinator.rows(copies), "the first copy")
        to, state = self.row(copies)
        self.wait_for_round(to + ROUNDS_GIVEN_UP)
        self.wait_for_a_joint_round_from(to)  # so that both have credit to lose
        refused = self.roll_back(to + 1, "--credit", "keep", "--yes", check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn(f"no copy of the state of round {to + 1} of run '{RUN_ID}' is kept", refused.stderr)
        self.assertIn(f"there are copies of rounds {to}", refused.stderr)
        asked = self.roll_back(to, "--credit", "reverse", check=False)
        self.assertEqual(asked.returncode, 1)
        self.assertIn("nothing was changed", asked.stderr)
        self.assertRegex(asked.stdout, r"given up +\d+ rounds, \d+ samples")
        self.assertRegex(asked.stdout, r"accounts +2")
        self.assertEqual(self.row("SELECT count(*) FROM rollback"), (0,))
        self.assertGreater(self.samples(to, to + ROUNDS_GIVEN_UP - 1), 0)

        self.roll_back(to, "--credit", "reverse", "--yes")
        at, back_to, digest = self.row("SELECT round, to_round, state_digest FROM rollback")
        self.assertGreaterEqual(at, to + ROUNDS_GIVEN_UP)
        self.assertEqual((back_to, digest), (to, state))
        self.assertEqual(self.samples(to, at), 0)
        self.wait_for_log(self.swarm.coordinator.server, f"run '{RUN_ID}' is rolled back; it goes on in round {at + 1}")
        self.wait_for_a_joint_round_from(at + 1)
        self.assertEqual(self.samples(to, at), 0)
        self.assertEqual(self.row("SELECT count(*) FROM round WHERE round = ?", at), (0,))
        self.command("credit", "check", self.project())
        self.assertIn(f"rolled back  at round {at}, to the state of round {to}",
                      self.command("run", "status", self.project(), RUN_ID).stdout)

    def test_2_a_run_that_nobody_serves_goes_back_and_its_credit_is_kept(self):
        server = self.swarm.coordinator.server
        server.stop()
        to, = self.row("SELECT min(checkpoint.round) FROM checkpoint")
        before = self.row("SELECT sum(samples) FROM contribution")
        self.roll_back(to, "--credit", "keep", "--yes")
        self.assertEqual(self.row("SELECT sum(samples) FROM contribution"), before)
        first = self.round()
        server.start()
        self.wait_for_a_joint_round_from(first)
        self.command("credit", "check", self.project())

    def test_3_a_state_that_nobody_signed_is_loaded_by_nobody(self):
        server = self.swarm.coordinator.server
        self.swarm.coordinator.pause_run(RUN_ID)

        def settled():
            told = list(self.swarm.statuses().values())
            return all(one and one["phase"] == "waiting" and not one["reports_waiting"] for one in told) and (
                results.same_state(told))

        programs.wait_until(settled, "both wait at one state")
        server.stop()
        with sqlite3.connect(self.project() / "coordinator.db") as db:
            last, = db.execute("SELECT max(round) FROM round").fetchone()
            db.execute("UPDATE round SET state_digest = ? WHERE round = ?", (b"\x66" * 32, last))
        db.close()
        server.start()
        self.wait_for_log(server, f"the database has another state of round {last + 1} than the one that members have signed")
        self.swarm.coordinator.start_run(RUN_ID)
        self.wait_for_a_joint_round_from(last + 1)
        for volunteer in self.swarm.volunteers:
            self.assertNotIn("not proven", str(volunteer.status()))

    def test_4_a_project_restored_from_an_older_backup_goes_on_with_those_who_know_later_rounds(self):
        server, made = self.swarm.coordinator.server, self.folder / "older"
        self.command("backup", "now", self.project(), made, "--with-keys", "--passphrase-file", self.passphrase())
        self.wait_for_a_joint_round_from(self.round() + ROUNDS_GIVEN_UP)
        server.stop()
        self.project().rename(self.folder / "lost")
        told = self.command("restore", made, self.project(), "--passphrase-file", self.passphrase()).stdout
        first = self.round()
        self.assertIn(f"run '{RUN_ID}' goes on in round {first}", told)
        server.start()
        self.wait_for_a_joint_round_from(first)
        for volunteer in self.swarm.volunteers:
            self.assertNotIn("not proven", str(volunteer.status()))

    def test_5_a_backup_has_no_key_that_a_passphrase_does_not_open(self):
        passphrase = self.passphrase()
        wrong = self.folder / "wrong"
        wrong.write_text("another passphrase\n")
        told = self.command("backup", "now", self.project(), self.folder / "bare").stdout
        self.assertIn("keys export", told)
        made = self.folder / "with-keys"
        self.command("backup", "now", self.project(), made, "--with-keys", "--passphrase-file", passphrase)
        for file in [*(self.folder / "bare").rglob("*"), *made.rglob("*")]:
            if file.is_file():
                self.assertNotIn(b"PRIVATE KEY", file.read_bytes(), file)
        self.assertIn("missing: ca.key and manifest.key",
                      self.command("restore", self.folder / "bare", self.folder / "keyless").stdout)
        restored = self.folder / "restored"
        refused = self.command("restore", made, restored, "--passphrase-file", wrong, check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("the passphrase is wrong", refused.stderr)
        self.assertFalse(restored.exists())
        self.command("restore", made, restored, "--passphrase-file", passphrase)
        self.assertEqual((restored / "ca.key").read_bytes(), (self.project() / "ca.key").read_bytes())

    def test_6_the_restored_project_obeys_operators_by_their_roles(self):
        restored = self.folder / "restored"
        password = self.folder / "password"
        password.write_text("a long password of mine\n")
        for name, role in ("mona", "moderator"), ("vera", "viewer"), ("ruth", "run-manager"):
            self.command("operators", "add", restored, name, "--role", role, "--password-file", password)
        port = programs.free_port()
        server = programs.Program("restored", [programs.BIN / "starling-coordinator", "serve", restored, "--listen",
                                               f"127.0.0.1:{programs.free_port()}", "--admin", f"127.0.0.1:{port}"],
                                  self.folder / "restored.log")
        self.addCleanup(server.stop)
        server.start()
        programs.wait_until(lambda: "listening on" in server.log(), "the restored project is served")
        for name, may_pause, may_post in ("vera", False, False), ("mona", False, True), ("ruth", True, False):
            browser = Browser(port)
            browser.post("/login", "/login", name=name, password=password.read_text().strip())
            status, page = browser.post("/do/pause", "/", run=RUN_ID)
            self.assertEqual(status, 200 if may_pause else 403, name)
            if not may_pause:
                self.assertIn("this takes a run manager or an operator", page)
            self.assertEqual(browser.post("/do/post-news", "/", title=name, body="")[0], 200 if may_post else 403, name)
        status = self.command("run", "status", restored, RUN_ID).stdout
        self.assertIn("is paused", status)

    def test_7_the_log_is_whole_until_somebody_changes_a_line(self):
        restored = self.folder / "restored"
        whole = self.command("audit", restored, "--verify").stdout
        noted = whole.splitlines()[-1]
        self.command("audit", restored, "--verify", "--noted", noted)
        with sqlite3.connect(restored / "coordinator.db") as db:
            line, = db.execute("SELECT id FROM audit WHERE action = 'run rollback' ORDER BY id").fetchone()
            db.execute("DROP TRIGGER audit_is_never_changed")
            db.execute("UPDATE audit SET who = 'somebody else' WHERE id = ?", (line,))
        db.close()
        refused = self.command("audit", restored, "--verify", check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn(f"line {line} ", refused.stderr)
        self.command("audit", self.project(), "--verify")


if __name__ == "__main__":
    suite.main()
