#!/usr/bin/env python3
"""Three volunteers train a small model for real, and everything that can be killed is killed once."""

import json
import os
import signal
import ssl
import urllib.request

import programs
import suite
from swarm_case import RUN_ID, SwarmCase


def children(pid):
    return [child for child, _, parent, _ in programs.processes() if parent == pid]


class SwarmUnderFire(SwarmCase):
    # Little is sent of each gradient, and of their sum: the test would notice if the values left out were lost.
    SETTINGS = {"codec": "sparse", "error_feedback": 0.95, "optimizer": {"kind": "sgd"}}

    def trainer_of(self, volunteer):
        found = programs.wait_until(lambda: children(volunteer.daemon.process.pid), "a trainer runs")
        self.assertEqual(len(found), 1)
        return found[0]

    def test_1_three_volunteers_complete_rounds_together(self):
        self.wait_for_rounds(self.swarm.volunteers, 5)
        self.wait_for_a_round_of_all(self.swarm.volunteers[0])

    def test_1a_the_operator_is_told_what_other_algorithms_would_take_this_swarm(self):
        manifest = self.folder / "run" / "manifest.toml"
        told = json.loads(self.swarm.coordinator.command("plan", manifest, "--from-run", self.swarm.coordinator.folder,
                                                         "--plot", self.folder / "plan.svg", "--json").stdout)
        of_algorithm = {each["algorithm"]: each for each in told["prospects"]}
        self.assertGreater(of_algorithm["diloco"]["round_samples"], of_algorithm["dedloc"]["round_samples"])
        self.assertGreater(of_algorithm["dedloc"]["compute_s"], 0)
        self.assertIn("computers", (self.folder / "plan.svg").read_text())

    def test_1b_their_calls_tell_the_planner_how_steady_their_computers_are_and_how_far_from_each_other(self):
        anybody = ssl._create_unverified_context()

        def known():
            with urllib.request.urlopen(self.swarm.coordinator.url + "swarm.json", context=anybody) as page:
                hosts = json.load(page)["hosts"]
            return (sum(host["count"] for host in hosts) == 3 and all(host["jitter"] > 0 for host in hosts)
                    and all(host["departures_per_h"] > 0 for host in hosts) and any(host["delay_ms"] > 0 for host in hosts))

        programs.wait_until(known, "jitter and delays of three computers")

    def test_2_a_killed_volunteer_leaves_nothing_and_comes_back(self):
        victim, *others = self.swarm.volunteers
        victim.daemon.kill()
        programs.wait_until(lambda: not victim.daemon.leftovers(), "the victim's trainer ends")
        self.wait_for_rounds(others, 3)
        victim.start()
        self.wait_for_rounds([victim], 3)

    def test_3_a_killed_trainer_is_started_again(self):
        victim = self.swarm.volunteers[1]
        trainer = self.trainer_of(victim)
        os.kill(trainer, signal.SIGKILL)
        self.wait_for_rounds(self.swarm.volunteers, 3)
        self.assertNotEqual(self.trainer_of(victim), trainer)

    def test_4_a_hanging_trainer_is_replaced(self):
        victim = self.swarm.volunteers[2]
        trainer = self.trainer_of(victim)
        os.kill(trainer, signal.SIGSTOP)
        programs.wait_until(lambda: trainer not in children(victim.daemon.process.pid), "the trainer is replaced")
        self.wait_for_rounds(self.swarm.volunteers, 3)

    def test_5_pause_frees_the_machine_and_resume_trains_on(self):
        volunteer = self.swarm.volunteers[0]
        volunteer.command("pause", "--reason", "gaming")

        def paused():
            status = volunteer.status()
            return status["phase"] == "paused" and "gaming" in status["reason"]

        programs.wait_until(paused, "the volunteer pauses, for the reason it was given")
        programs.wait_until(lambda: not children(volunteer.daemon.process.pid), "the trainer ends")
        self.wait_for_rounds(self.swarm.volunteers[1:], 2)
        volunteer.command("resume")
        self.wait_for_rounds([volunteer], 2)

    def test_6_a_limit_on_what_is_sent_is_obeyed_at_once_and_rounds_go_on(self):
        volunteer = self.swarm.volunteers[0]
        volunteer.command("prefs", "set", "upload_max_mbit_s", "0.8")

        def limited():
            return 0 < volunteer.status()["network"]["upload_bytes_per_s"] <= 0.8e6 / 8

        programs.wait_until(limited, "plans count on no more than the limit")
        self.wait_for_rounds(self.swarm.volunteers, 2)
        volunteer.command("prefs", "set", "upload_max_mbit_s", "none")

    def test_7_in_the_end_all_sides_agree(self):
        self.assert_all_sides_agree(15)

    def test_7a_two_of_them_measure_the_same_state_and_agree(self):
        # While a run rests its last state is measured at once, not only a fiftieth of the time.
        programs.wait_until(lambda: (self.swarm.coordinator.run_status(RUN_ID)["validation"] or {}).get("measured_by") == 2,
                            "a held-out figure of two volunteers")

    def test_8_who_leaves_in_the_middle_of_training_keeps_nothing_of_the_project(self):
        self.swarm.coordinator.start_run(RUN_ID)
        leaver, *others = self.swarm.volunteers
        self.wait_for_rounds(self.swarm.volunteers, 1)
        self.trainer_of(leaver)
        leaver.command("leave")
        self.assertEqual(children(leaver.daemon.process.pid), [])
        self.assertEqual(leaver.status()["phase"], "idle")
        self.assertEqual(leaver.command("leave", check=False).returncode, 1)
        self.wait_for_rounds(others, 2)
        leaver.daemon.stop()
        kept = {"host.key", "host.secret", "rounds.jsonl", "preferences.json", "pause.json", "traffic.json",
                "starlingd.log", "lock"}
        self.assertLessEqual({path.name for path in leaver.folder.iterdir()}, kept)


if __name__ == "__main__":
    suite.main()
