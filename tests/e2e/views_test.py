#!/usr/bin/env python3
"""The daemon's reports about time, peers, standings and join links, compared with the facts."""

import json

import programs
import suite
from swarm_case import SwarmCase


class Views(SwarmCase):
    VOLUNTEERS = 2

    def ask(self, *arguments, volunteer=0):
        return json.loads(self.swarm.volunteers[volunteer].command("--json", *arguments).stdout)

    def test_1_history_is_what_the_journal_says(self):
        self.wait_for_rounds(self.swarm.volunteers, 3)
        volunteer = self.swarm.volunteers[0]
        me = volunteer.status()["peer"]
        rounds = {point["round"]: point for point in self.ask("history", "rounds")["history"]}
        journal = volunteer.journal()
        self.assertGreaterEqual(len(rounds), 3)
        for number, point in rounds.items():
            contributions = journal[number]["contributions"]
            self.assertEqual(point["samples"], contributions.get(me, 0))
            self.assertEqual(point["swarm_samples"], sum(contributions.values()))
            # a contribution that came too late has a loss, too
            self.assertTrue(point["loss"] > 0 or point["samples"] == 0)
        self.assertGreater(sum(point["samples"] for point in rounds.values()), 0)
        days = self.ask("history", "all")["history"]
        self.assertGreaterEqual(sum(point["samples"] for point in days), sum(p["samples"] for p in rounds.values()))

    def test_2_peers_are_those_of_the_swarm(self):
        known = {volunteer.status()["peer"] for volunteer in self.swarm.volunteers}

        def all_there():  # a volunteer that is silent for some seconds is in no plan
            peers = self.ask("peers")["peers"]["list"]
            return {peer["peer"] for peer in peers} == known and peers

        peers = programs.wait_until(all_there, "both are in one plan")
        self.assertEqual([peer["peer"] for peer in peers if peer["self"]],
                         [self.swarm.volunteers[0].status()["peer"]])
        self.assertAlmostEqual(sum(peer["part"] for peer in peers), 1, places=3)
        for peer in peers:
            self.assertEqual(peer["round_trip_ms"] > 0, not peer["self"], peer)

    def test_3_the_leaderboard_pins_whoever_asks(self):
        def credited():
            board = self.ask("leaderboard", "--sort", "total", volunteer=1)["leaderboard"]
            return board if board["volunteers"] == 2 and "pinned" in board else None

        board = programs.wait_until(credited, "both volunteers are on the leaderboard")
        self.assertEqual(board["pinned"]["name"], self.swarm.volunteers[1].name)
        self.assertEqual({row["name"] for row in board["rows"]}, {v.name for v in self.swarm.volunteers})
        found = self.ask("leaderboard", "--search", self.swarm.volunteers[0].name)["leaderboard"]["rows"]
        self.assertEqual([row["name"] for row in found], [self.swarm.volunteers[0].name])

    def test_4_a_join_link_is_looked_into_without_joining(self):
        link = self.swarm.coordinator.new_invite()

        def of_both():
            preview = self.ask("preview", link)["preview"]
            return preview if preview["swarm_size"] == 2 else None

        preview = programs.wait_until(of_both, "both are told of")
        self.assertEqual(preview["project"], "End to end")
        self.assertEqual((preview["run_title"], preview["run_state"]), ("A small run", "running"))
        self.assertGreater(preview["parameters"], 50_000)
        self.assertEqual(preview["data_bytes"], 204_000)
        self.assertIn(preview["fingerprint"], link)
        wrong = link.replace(preview["fingerprint"][:8], "00000000")
        refused = self.swarm.volunteers[0].command("preview", wrong, check=False)
        self.assertEqual(refused.returncode, 1)

    def test_5_the_daemon_ends_on_request(self):
        daemon = self.swarm.volunteers[1].daemon
        self.swarm.volunteers[1].command("stop")
        self.assertFalse(daemon.running())  # has ended by then
        self.assertEqual(daemon.process.returncode, 0)


if __name__ == "__main__":
    suite.main()
