#!/usr/bin/env python3
"""Six volunteers average in a grid of two columns, and go on in it when one of them is killed in the middle."""

import unittest

from swarm_case import SwarmCase


class Grid(SwarmCase):
    VOLUNTEERS = 6
    SETTINGS = {"codec": "fp16", "averaging": {"formation": "grid", "group_size": 3}}

    def test_1_both_columns_are_in_every_round(self):
        self.wait_for_rounds(self.swarm.volunteers, 3, 60)
        last = [list(volunteer.journal().values())[-1] for volunteer in self.swarm.volunteers]
        self.assertEqual({entry.get("column") for entry in last}, {0, 1})

    def test_2_a_killed_volunteer_costs_the_others_no_round(self):
        victim, *others = self.swarm.volunteers
        victim.daemon.kill()
        self.wait_for_rounds(others, 2, 90)
        victim.start()
        self.wait_for_rounds(self.swarm.volunteers, 2, 90)

    def test_3_in_the_end_all_sides_agree(self):
        self.assert_all_sides_agree(6)


if __name__ == "__main__":
    unittest.main(failfast=True)
