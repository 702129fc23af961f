#!/usr/bin/env python3
"""The operator ends one run and starts another: volunteers follow by themselves, and find the first as it was left."""


import programs
import suite
import swarm
from swarm_case import SETTINGS, SwarmCase, small_corpus

NEXT = "next"
SMALL = {"target_batch_size": 16, "micro_batch_size": 8,
         "model": {"layers": 1, "width": 32, "heads": 2, "context": 32}}


class NextRun(SwarmCase):
    VOLUNTEERS = 2
    SETTINGS = SMALL

    def go_to(self, run):
        self.coordinator.pause_run(self.swarm.run)
        self.coordinator.start_run(run)
        self.swarm.run = run
        before, done = self.ledger(), {volunteer: self.samples_of(volunteer) for volunteer in self.swarm.volunteers}
        programs.wait_until(lambda: all((v.status() or {}).get("run_id") == run and self.samples_of(v) > done[v]
                                        for v in self.swarm.volunteers), f"both train '{run}'")
        programs.wait_until(lambda: self.ledger() >= before + 64, f"samples of '{run}' are credited")

    def samples_of(self, volunteer):
        """The number of its own samples that it has seen accepted in the present run."""
        peer = volunteer.peer()
        return sum(entry["contributions"].get(peer, 0) for entry in volunteer.journal(self.swarm.run).values())

    def ledger(self):
        return self.coordinator.run_status(self.swarm.run)["ledger_samples"]

    @property
    def coordinator(self):
        return self.swarm.coordinator

    def test_1_volunteers_follow_to_the_next_run(self):
        self.wait_for_rounds(self.swarm.volunteers, 3)
        settings = {**SETTINGS, **SMALL, "run_id": NEXT, "title": "The next one"}
        settings["model"] = {**SMALL["model"], "width": 48}
        self.coordinator.create_run(swarm.write_run(self.folder / "next", small_corpus(), settings))
        self.assertEqual(self.swarm.volunteers[0].status()["run_id"], SETTINGS["run_id"], "none follows before it is started")
        self.go_to(NEXT)
        self.assertEqual(self.swarm.volunteers[0].status()["run_title"], "The next one")

    def test_2_and_back_to_where_the_first_was(self):
        rounds = self.coordinator.run_status(SETTINGS["run_id"])["round"]
        self.go_to(SETTINGS["run_id"])
        for volunteer in self.swarm.volunteers:
            self.assertGreaterEqual(volunteer.status()["round"], rounds)

    def test_3_a_daemon_that_was_off_meanwhile_follows_too(self):
        late = self.swarm.volunteers[1]
        late.daemon.stop()
        self.coordinator.pause_run(self.swarm.run)
        self.coordinator.start_run(NEXT)
        self.swarm.run = NEXT
        late.start()
        programs.wait_until(lambda: (late.status() or {}).get("run_id") == NEXT, "it trains the next run")

    def test_4_in_the_end_all_sides_agree(self):
        self.assertTrue(self.swarm.drain())


if __name__ == "__main__":
    suite.main()
