#!/usr/bin/env python3
"""Computers that compute wrong among real ones: others recompute their work, they are told in words, their credit is
taken back, and nobody else is touched."""

import programs
import suite
from swarm_case import LITTLE_MODEL, RUN_ID, SwarmCase

CHECKS_MAX = 40  # of one computer, until it is found
TOLD = "others computed something else from the same samples than this computer"
RIGHT, WRONG = 0, 1


class Checked(SwarmCase):
    HONEST = 5
    WAYS = ("zeros", "half", "bit-flip")
    VOLUNTEERS = HONEST + len(WAYS)
    SETTINGS = {"audit_rate": 1.0, "target_batch_size": 128, "model": LITTLE_MODEL}

    @classmethod
    def prepare(cls):
        cls.honest = cls.swarm.volunteers[: cls.HONEST]
        cls.false = dict(zip(cls.WAYS, cls.swarm.volunteers[cls.HONEST:]))
        for way, volunteer in cls.false.items():
            cls.swarm.give_false_trainer(volunteer, way)

    def checks_of(self, peer):
        """The verdicts on this computer's work, in order."""
        return [verdict for (verdict,) in self.swarm.coordinator.rows(
            "SELECT c.verdict FROM work_check c JOIN host h ON h.id = c.host WHERE h.peer_id = ? ORDER BY c.round", bytes.fromhex(peer))]

    def samples_of(self, peer):
        """Its samples in the ledger, without those that were taken back."""
        return self.swarm.coordinator.rows(
            "SELECT coalesce(sum(c.samples), 0) FROM contribution c JOIN host h ON h.id = c.host WHERE h.peer_id = ?",
            bytes.fromhex(peer))[0][0]

    def test_1_each_of_them_is_found_and_told_why(self):
        programs.wait_until(lambda: all(volunteer.status() and volunteer.status()["peer"] for volunteer in self.swarm.volunteers),
                            "all have begun")
        for way, volunteer in self.false.items():
            peer = volunteer.peer()
            programs.wait_until(lambda: WRONG in self.checks_of(peer), f"'{way}' is found")
            checks = self.checks_of(peer)
            self.assertLess(checks.index(WRONG), CHECKS_MAX, f"{way}: {checks}")
            programs.wait_until(lambda: any(TOLD in problem for problem in (volunteer.status() or {"problems": []})["problems"]),
                                f"'{way}' is told")
            self.assertGreater(volunteer.status()["checked"]["missed"], 0)

    def test_2_after_the_second_time_they_are_out_and_have_no_credit(self):
        for way, volunteer in self.false.items():
            peer = volunteer.status()["peer"]
            programs.wait_until(lambda: self.checks_of(peer).count(WRONG) >= 2, f"'{way}' is found again")
            programs.wait_until(lambda: "starling doctor --self-test" in " ".join((volunteer.status() or {"problems": []})["problems"]),
                                f"'{way}' is told what to do")
            programs.wait_until(lambda: self.samples_of(peer) == 0, f"all of the credit of '{way}' is taken back")

    def test_3_the_honest_are_not_touched(self):
        self.wait_for_rounds(self.honest, 5)
        for volunteer in self.honest:
            status = volunteer.status()
            self.assertEqual(status["problems"], [], volunteer.name)
            self.assertGreater(status["checked"]["times"], 0, volunteer.name)
            self.assertEqual(status["checked"].get("missed", 0), 0, volunteer.name)
            self.assertNotIn(WRONG, self.checks_of(status["peer"]))
            self.assertGreater(self.samples_of(status["peer"]), 0)
            self.assertIn(", all right", volunteer.command("status").stdout)

    def test_4_the_operator_sees_whose_work_was_wrong(self):
        told = self.swarm.coordinator.command("audit", "list", self.swarm.coordinator.folder, "--missed").stdout
        for volunteer in self.false.values():
            self.assertIn(volunteer.name, told)
        for volunteer in self.honest:
            self.assertNotIn(volunteer.name, told)
        self.swarm.coordinator.command("credit", "check", self.swarm.coordinator.folder)

    def test_5_a_computer_that_is_repaired_comes_back(self):
        volunteer = self.false[self.WAYS[-1]]
        volunteer.daemon.stop()
        volunteer.daemon.command[0] = programs.BIN / "starlingd"
        volunteer.start()
        programs.wait_until(lambda: any(TOLD in problem for problem in (volunteer.status() or {"problems": []})["problems"]),
                            "it is told again")
        volunteer.command("doctor", "--self-test", "--seconds", "1")
        programs.wait_until(lambda: ((volunteer.status() or {}).get("checked") or {}).get("times", 0) > 0, "its work is found right")


class OneOfFive(Checked):
    HONEST = 4
    WAYS = ("bit-flip",)
    VOLUNTEERS = 5


if __name__ == "__main__":
    suite.main()
