#!/usr/bin/env python3
"""A computer that lies among real ones: its claims are credited to nobody, the others' state is as if it were absent,
and everybody can see that something is wrong with it."""

import math
import os
import time

import programs
import suite
from swarm_case import RUN_ID, SETTINGS, SwarmCase

LIAR = os.environ.get("STARLING_LIAR", programs.BIN.parent / "tests/starlingd_liar")
TARGET_BATCH = SETTINGS["target_batch_size"]
ADDED = 1000  # samples that a false report adds (liar.cpp)


class Liar(SwarmCase):
    VOLUNTEERS = 4
    LIE = ""

    @classmethod
    def prepare(cls):
        *cls.honest, cls.liar = cls.swarm.volunteers
        cls.liar.daemon.command[0] = str(LIAR)
        cls.liar.daemon.environment = {"STARLING_LIE": cls.LIE}

    def problems(self):
        return (self.liar.status() or {"problems": []})["problems"]

    def honest_loss(self):
        told = [volunteer.status() for volunteer in self.honest]
        return max((status for status in told if status), key=lambda status: status["samples_total"], default={"loss": 0})["loss"]

    def assert_the_others_agree(self):
        """Without the liar, all sides agree. Returns the rounds of an honest volunteer."""
        self.liar.daemon.stop()
        self.swarm.volunteers = self.honest
        self.addClassCleanup(self.liar.daemon.stop)
        self.assert_all_sides_agree(10)
        return self.honest[0].journal(RUN_ID)


class RefusedByAll(Liar):
    """It sends the others messages that no honest program sends."""

    def check(self):
        """Returns the others' rounds, and whose the lie is."""
        self.wait_for_rounds(self.honest, 10)
        peer = self.liar.status()["peer"]

        def told():  # an honest one may sit out, too, for being slow
            words = ("sits out", "the others could not use what it sent", peer[:8])
            return any(all(word in line for word in words) for line in self.swarm.coordinator.server.log().splitlines())

        programs.wait_until(told, "the coordinator's log tells that the liar sits out, and why")
        programs.wait_until(lambda: "the others could not use what it sent" in " ".join(self.problems()),
                            "it is told why")
        self.wait_for_rounds(self.honest, 5)
        return self.assert_the_others_agree().values(), peer


class MoreSamplesThanAnybodyHas(RefusedByAll):
    LIE = "samples"

    def test_it_is_left_out_and_the_others_go_on(self):
        rounds, peer = self.check()
        for entry in rounds:
            self.assertNotIn(peer, entry["contributions"])


class Overclaimer(Liar):
    """It names as many samples as the others let it."""

    LIE = "overclaimer"
    FIRST = 3  # the coordinator, which has just started, leases all samples of this round and later ones

    def test_it_is_credited_with_nothing_beyond_its_leases_and_nobody_loses_by_it(self):
        self.wait_for_rounds(self.honest, 15)
        rows = self.swarm.coordinator.rows(
            "SELECT c.round, lower(hex(h.peer_id)), c.samples, (SELECT coalesce(sum(s.samples), 0) FROM sample_counted s "
            "WHERE s.run = c.run AND s.round = c.round AND s.host = c.host) FROM contribution c JOIN host h ON h.id = c.host "
            "WHERE c.round >= ?", self.FIRST)
        journal = self.honest[0].journal(RUN_ID)
        liar = self.liar.status()["peer"]
        credited, named = 0, 0
        for number, peer, samples, leased in rows:
            self.assertLessEqual(samples, leased, f"round {number}")
            if number not in journal:
                continue
            if peer == liar:
                credited += samples
                named += journal[number]["contributions"][peer]
            else:
                self.assertEqual(samples, journal[number]["contributions"][peer], f"round {number}")
        self.assertGreater(named, credited)
        for volunteer in self.honest:
            self.assertEqual(volunteer.status()["problems"], [])


class NoNumbers(RefusedByAll):
    LIE = "numbers"

    def test_it_is_left_out_and_the_others_go_on(self):
        """As long as it owns a part it counts there: that is sound. None of what it sends gets into the model."""
        self.check()
        loss = self.honest_loss()
        self.assertTrue(0 < loss < math.inf, loss)


class Poison(Liar):
    LIE = "poison"

    def test_it_counts_for_no_more_than_two_others_and_the_model_learns(self):
        """Unbounded, one such gradient among four turns every step about, and the loss rises instead."""
        self.wait_for_rounds(self.honest, 3)
        first = self.honest_loss()
        self.assertGreater(first, 0)
        programs.wait_until(lambda: self.honest_loss() < 0.85 * first, f"the loss falls by 15 % of {first:.2f}")
        peer = self.liar.status()["peer"]
        for volunteer in self.honest:
            self.assertTrue(any("was unusually large" in line and peer in line for line in volunteer.daemon.log().splitlines()),
                            f"{volunteer.name} tells who was scaled down")
            self.assertEqual(volunteer.status()["problems"], [])
        self.assert_the_others_agree()


class Boast(Liar):
    LIE = "boast"

    def test_rounds_are_no_smaller_for_it(self):
        """Believed, it would have every round begin at once, with next to nothing in it."""
        self.wait_for_rounds(self.honest, 15)
        rounds = self.swarm.coordinator.rows("SELECT samples FROM round ORDER BY round")
        later = sorted(samples for (samples,) in rounds[5:])
        self.assertGreater(later[len(later) // 2], TARGET_BATCH / 2, f"rounds of {later} samples")
        self.assert_the_others_agree()


class Staller(Liar):
    LIE = "staller"
    ROUNDS = 40

    def test_the_others_rounds_go_on_at_nearly_their_pace(self):
        """Believed, the hour would be what each round waits."""
        self.wait_for_rounds(self.honest, 3)
        with_it = self.seconds_of_rounds()
        self.assertEqual([volunteer.status()["problems"] for volunteer in self.honest], [[], [], []])
        self.liar.daemon.stop()
        self.wait_for_rounds(self.honest, 3)
        without = self.seconds_of_rounds()
        self.assertLess(with_it, 1.5 * without + 10, f"{self.ROUNDS} rounds took {with_it:.1f} s, and {without:.1f} s without it")
        self.assert_the_others_agree()

    def seconds_of_rounds(self):
        began = time.monotonic()
        self.wait_for_rounds(self.honest, self.ROUNDS)
        return time.monotonic() - began


class FalseReports(Liar):
    LIE = "report"

    def test_they_are_credited_to_nobody_and_shown(self):
        self.wait_for_rounds(self.honest, 10)
        peer = self.liar.status()["peer"]

        def some():
            claims = self.swarm.coordinator.command("credit", "claims", self.swarm.coordinator.folder).stdout.splitlines()
            return len(claims) > 3 and claims

        claims = programs.wait_until(some, "more than three of its claims are listed")
        for claim in claims:
            self.assertIn(f"{ADDED} samples", claim)
            self.assertIn(f"computer {peer[:8]}", claim)
        journal = self.assert_the_others_agree()  # and the ledger has no sample more than they saw
        self.assertGreater(sum(entry["contributions"].get(peer, 0) for entry in journal.values()), 0)


class SplitOwner(Liar):
    LIE = "split-owner"

    def test_the_proof_puts_it_out_and_its_victims_keep_their_place(self):
        self.wait_for_rounds(self.honest, 3)
        peer = self.liar.status()["peer"]
        log = self.swarm.coordinator.server.log

        def told():
            return any("sits out" in line and peer[:8] in line for line in log().splitlines())

        programs.wait_until(told, "the coordinator's log tells that the liar sits out")
        self.wait_for_rounds(self.honest, 5)
        for volunteer in self.honest:
            self.assertEqual(volunteer.status()["problems"], [])
            other = volunteer.status()["peer"][:8]
            self.assertFalse(any("sits out" in line and other in line for line in log().splitlines()))
        self.assert_the_others_agree()


class AloneWithItsRounds(Liar):
    """Reports of rounds that it says it averaged alone: they decide nothing, and mint nothing."""

    INVENTED = "66" * 32  # the state that it says came of them (liar.cpp)

    def check(self):
        self.wait_for_rounds(self.honest, 10)
        coordinator = self.swarm.coordinator

        def refused():
            return any("does not count" in line for line in self.liar.daemon.log().splitlines())

        programs.wait_until(refused, "the coordinator refuses what it says")
        self.wait_for_rounds(self.honest, 10)
        decided = coordinator.rows("SELECT round, hex(state_digest), samples FROM round ORDER BY round")
        self.assertNotIn(self.INVENTED, [digest for _, digest, _ in decided])
        journal = self.honest[0].journal(RUN_ID)
        peer = self.liar.status()["peer"]
        for number, _, samples in decided:
            if number in journal:
                self.assertEqual(samples, sum(journal[number]["contributions"].values()))
        self.assertLess(max((entry["contributions"].get(peer, 0) for entry in journal.values()), default=0), 3840)
        self.assertNotIn("the run goes on from", coordinator.server.log())
        self.assert_the_others_agree()


class LoneReports(AloneWithItsRounds):
    LIE = "lone-report"

    def test_they_decide_nothing(self):
        self.check()


class ReportsFiledAhead(AloneWithItsRounds):
    LIE = "filed-ahead"

    def test_they_decide_nothing_when_their_rounds_come(self):
        self.check()


if __name__ == "__main__":
    suite.main()
