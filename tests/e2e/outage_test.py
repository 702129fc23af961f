#!/usr/bin/env python3
"""The coordinator is away for a while. Rounds continue without it, and after its return it learns of every one of them.

    outage_test.py [--seconds S]    the time for which it is away; a minute if it is not told
"""

import argparse
import time

import programs
import suite
from swarm_case import SwarmCase

options = argparse.Namespace(seconds=60)


class Outage(SwarmCase):
    # On a fast machine the usual batch makes rounds of a tenth of a second: a volunteer that came a moment too late for
    # the last plan is then far behind before it notices, and the remaining pair has hundreds of rounds in which to
    # split.
    SETTINGS = {"target_batch_size": 256, "peers_max": 64}

    def test_1_rounds_go_on_without_the_coordinator(self):
        volunteers = self.swarm.volunteers
        self.wait_for_rounds(volunteers, 5)
        self.swarm.coordinator.server.kill()
        ends = time.monotonic() + options.seconds
        programs.wait_until(lambda: all(v.status()["coordinator_away"] for v in volunteers), "it shows")
        # A volunteer that alone received the last plan may sit the outage out; the majority continues.
        while time.monotonic() < ends:
            before = {v: self.rounds_of(v) for v in volunteers}
            programs.wait_until(lambda: sum(self.rounds_of(v) > before[v] for v in before) >= 2,
                                "two of three complete a round")
            self.assertTrue(all(v.status()["coordinator_away"] for v in volunteers))

    def test_2_a_volunteer_that_starts_meanwhile_waits_and_says_for_what(self):
        victim = self.swarm.volunteers[0]
        victim.daemon.kill()
        victim.start()
        programs.wait_until(lambda: victim.status()["coordinator_away"], "the new one sees that nobody answers")
        self.assertIn("coordinator cannot be reached", victim.status()["reason"])

    def test_3_the_coordinator_hears_of_all_rounds_when_it_is_back(self):
        self.swarm.coordinator.serve()
        # Hundreds of rounds are reported first, more on a fast machine. Until then no volunteer can be a donor.
        self.wait_for_rounds(self.swarm.volunteers, 3)
        programs.wait_until(lambda: not any(v.status()["coordinator_away"] for v in self.swarm.volunteers), "it shows")
        self.assert_all_sides_agree(3)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=options.seconds)
    options, rest = parser.parse_known_args()
    suite.main(rest)
