#!/usr/bin/env python3
"""A volunteer who changes their mind all the time: the daemon always has an answer and a reason, and obeys."""

import random
import time

import programs
import suite
from swarm_case import SwarmCase
from swarm_test import children
from wishes import Line, any_question, any_wish

SEED = 11
WISHES = 250  # in each of the rounds below
ROUNDS = 4
ALLOWS = {"compute": "always", "network": "always", "disk_free_min_gb": "0", "disk_max_gb": "1000",
          "temperature_max_c": "none", "data_max_gb_per_month": "none", "upload_max_mbit_s": "none",
          "download_max_mbit_s": "none", "memory_in_use_percent": "50", "memory_idle_percent": "50"}


class Wishes(SwarmCase):
    VOLUNTEERS = 1

    def setUp(self):
        self.volunteer = self.swarm.volunteers[0]
        self.line = self.enterContext(Line(self.volunteer))
        self.forbidden_since = None

    def trainers(self):
        return children(self.volunteer.daemon.process.pid)

    def wait_for_trainer(self):
        programs.wait_until(self.trainers, "a trainer runs")

    def allow(self):
        self.line.ask("set_preferences", changes=[{"name": name, "value": value} for name, value in ALLOWS.items()])
        self.line.ask("resume")

    def look(self):
        """One reason while training is not allowed, which is then obeyed; none while it is."""
        status = self.line.status()
        code = status["rules"]["code"]
        forbidden = code != "none"
        self.assertTrue(not forbidden or (status["reason"] and status["ends_when"]), status)
        self.assertEqual(bool(status["reason"]), bool(status["ends_when"]), status)
        self.assertFalse(status["paused"] and code not in ("paused", "snoozed"), status)
        if not forbidden:
            self.forbidden_since = None
        elif self.forbidden_since is None:
            self.forbidden_since = time.monotonic()
        elif time.monotonic() - self.forbidden_since > programs.FREE_WITHIN_S:
            self.assertEqual(self.trainers(), [], status)
        return code

    def wish(self, wish):
        answer = self.line.ask(**wish)
        if answer["ok"]:
            self.assertNotIn("code", answer)
        else:
            self.assertTrue(answer["code"] and answer["message"], (wish, answer))

    def test_1_every_wish_has_its_answer_and_is_obeyed(self):
        chance = random.Random(SEED)
        names = self.line.settings()
        reasons = {}
        for _ in range(ROUNDS):
            self.allow()
            self.wait_for_trainer()
            for _ in range(WISHES):
                self.wish(any_question(chance) if chance.random() < 0.2 else any_wish(chance, names))
                code = self.look()
                reasons[code] = reasons.get(code, 0) + 1
            self.wish({"command": "pause", "reason": "a film"})
            self.assertEqual(self.look(), "paused")
            programs.wait_until(lambda: not self.trainers(), "the trainer ends", programs.FREE_WITHIN_S)
            for _ in range(20):
                self.wish(any_question(chance))
                self.assertEqual((self.look(), self.trainers()), ("paused", []))
        print(f"{ROUNDS * WISHES} wishes (seed {SEED}): reasons {reasons}")
        self.assertGreaterEqual(len(reasons), 4)

    def test_2_leaving_while_all_changes_ends_in_peace(self):
        self.allow()
        self.wait_for_trainer()
        self.wish({"command": "leave"})
        programs.wait_until(lambda: not self.trainers(), "the trainer ends", programs.FREE_WITHIN_S)
        self.assertIn("no project", self.line.status()["reason"])
        self.wish({"command": "pause"})
        self.look()
        self.allow()
        self.volunteer.join(self.swarm.coordinator.new_invite())
        self.wait_for_trainer()


if __name__ == "__main__":
    suite.main()
