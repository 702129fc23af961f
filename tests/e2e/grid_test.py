#!/usr/bin/env python3
"""Six volunteers average in a grid of two columns, and continue in it when one of them is killed in the middle."""


import programs
import suite
from swarm_case import SwarmCase


class Grid(SwarmCase):
    VOLUNTEERS = 6
    # Rounds last longer than loading the state, so that a volunteer that is late for one takes part in the next.
    SETTINGS = {"target_batch_size": 256, "peers_max": 64, "codec": "fp16",
                "averaging": {"formation": "grid", "group_size": 3}}

    def test_1_both_columns_are_in_every_round(self):
        self.wait_for_rounds(self.swarm.volunteers, 3)

        def columns():
            return {list(volunteer.journal().values())[-1].get("column") for volunteer in self.swarm.volunteers}

        programs.wait_until(lambda: columns() == {0, 1}, "all are in one of the two columns")

    def test_2_a_killed_volunteer_costs_the_others_no_round(self):
        victim, *others = self.swarm.volunteers
        victim.daemon.kill()
        self.wait_for_rounds(others, 2)
        victim.start()
        self.wait_for_rounds(self.swarm.volunteers, 2)

    def test_3_in_the_end_all_sides_agree(self):
        self.assert_all_sides_agree(6)


if __name__ == "__main__":
    suite.main()
