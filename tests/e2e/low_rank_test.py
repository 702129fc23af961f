#!/usr/bin/env python3
"""Three volunteers train by low-rank products: every round is two averagings, and one of them dies in some round."""


import programs
import suite
from swarm_case import SwarmCase


class LowRankSwarm(SwarmCase):
    SETTINGS = {"codec": "fp16", "low_rank": 4, "error_feedback": 1}

    def test_1_three_volunteers_complete_rounds_together(self):
        self.wait_for_rounds(self.swarm.volunteers, 5)
        self.wait_for_a_round_of_all(self.swarm.volunteers[0])

    def test_2_a_killed_volunteer_holds_nobody_up_and_comes_back(self):
        victim, *others = self.swarm.volunteers
        victim.daemon.kill()
        programs.wait_until(lambda: not victim.daemon.leftovers(), "the victim's trainer ends")
        self.wait_for_rounds(others, 3)
        victim.start()
        self.wait_for_rounds(self.swarm.volunteers, 3)

    def test_3_in_the_end_all_sides_agree(self):
        self.assert_all_sides_agree(8)


if __name__ == "__main__":
    suite.main()
