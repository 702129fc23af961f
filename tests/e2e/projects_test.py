#!/usr/bin/env python3
"""One computer in two projects: it trains one at a time, by shares, and neither loses anything to the other."""

import json

import programs
import suite
from swarm import Swarm
from swarm_case import SETTINGS, SwarmCase, small_corpus

TURN_MINUTES = 0.05


class Projects(SwarmCase):
    VOLUNTEERS = 1
    # Rounds take only a moment, on a busy computer too.
    SETTINGS = {"target_batch_size": 4, "micro_batch_size": 4,
                "model": {"layers": 1, "width": 32, "heads": 2, "context": 32}}

    @classmethod
    def prepare(cls):
        cls.second = Swarm(cls.folder / "second", 0)
        cls.addClassCleanup(cls.second.stop)
        cls.second.create("Second", {**SETTINGS, **cls.SETTINGS, "run_id": "second"}, small_corpus())
        cls.volunteer = cls.swarm.volunteers[0]
        cls.volunteer.daemon.command += ["--turn", str(TURN_MINUTES)]

    def projects(self):
        done = self.volunteer.command("projects", "--json")
        return {project["name"]: project for project in json.loads(done.stdout)["projects"]}

    def journal_of_second(self):
        return programs.read_journal(self.volunteer.folder / "projects" / "1" / "rounds.jsonl")

    def ledger(self, swarm):
        return swarm.coordinator.run_status(swarm.run)["ledger_samples"]

    def test_1_a_second_project_takes_its_turn_and_gives_it_back(self):
        self.wait_for_rounds([self.volunteer], 2)
        self.volunteer.join(self.second.coordinator.new_invite())
        self.assertEqual(set(self.projects()), {"End to end", "Second"})
        programs.wait_until(lambda: len(self.journal_of_second()) >= 2, "two rounds of the second project")
        self.wait_for_rounds([self.volunteer], 2)  # the first project again
        programs.wait_until(lambda: all(p["trained_s"] > 0 for p in self.projects().values()), "both were trained")
        # Its work for either project is credited there.
        self.assertGreater(self.ledger(self.swarm), 0)
        self.assertGreater(self.ledger(self.second), 0)

    def test_2_joining_twice_is_refused(self):
        done = self.volunteer.join(self.second.coordinator.new_invite(), check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("'Second' already", done.stderr)

    def test_3_shares_count_and_both_survive_a_crash(self):
        self.volunteer.command("projects", "share", "second", "0")
        # Reported at once, though the running project ends its round first.
        told = json.loads(self.volunteer.command("projects", "train", "End to end", "--json").stdout)["projects"]
        self.assertEqual([project["name"] for project in told if project["current"]], ["End to end"])
        self.volunteer.daemon.kill()
        self.volunteer.start()
        self.wait_for_rounds([self.volunteer], 1)
        projects = self.projects()
        self.assertEqual(projects["Second"]["share"], 0)
        self.assertTrue(projects["End to end"]["current"])
        self.assertEqual(self.volunteer.status()["projects"], 2)

    def test_4_leaving_one_keeps_the_other(self):
        ambiguous = self.volunteer.command("leave", check=False)
        self.assertEqual(ambiguous.returncode, 1)
        self.assertIn("say which one", ambiguous.stderr)
        programs.wait_until(lambda: self.volunteer.command("leave", "second", check=False).returncode == 0, "it is left")
        self.assertEqual(set(self.projects()), {"End to end"})
        self.assertFalse((self.volunteer.folder / "projects" / "1").exists())
        self.wait_for_rounds([self.volunteer], 2)


if __name__ == "__main__":
    suite.main()
