#!/usr/bin/env python3
"""Every holder of the model is gone for good, with its disk. The run continues from the copy that the coordinator
keeps, not from the beginning, and narrow moments pass from member to member exactly, to the bit."""

import json
import shutil

import programs
import results
import suite
from swarm_case import RUN_ID, SwarmCase

LONG_GONE_S = 120  # holders of more get a minute to come back


class Departure(SwarmCase):
    VOLUNTEERS = 2
    SETTINGS = {"checkpoint_rounds": 10, "moments": "fp8"}

    def coordinator_round(self):
        return self.swarm.coordinator.run_status(RUN_ID)["round"]

    def test_1_the_coordinator_keeps_a_copy_that_a_volunteer_sent(self):
        line = self.wait_for_log(self.swarm.coordinator.server, "kept a copy of the state of round")
        self.assertGreaterEqual(int(line.split("of round ")[1].split(":")[0]), 10)
        self.wait_for_rounds(self.swarm.volunteers, 3)

    def test_2_the_copy_leaves_as_files_that_others_open(self):
        project = self.swarm.coordinator.folder
        folder = project / "model"
        said = self.swarm.coordinator.command("run", "export", project, RUN_ID, folder).stdout
        self.assertIn("model.safetensors", said)
        data = (folder / "model.safetensors").read_bytes()
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + length])
        self.assertEqual(header.pop("__metadata__")["run_id"], RUN_ID)
        self.assertEqual(max(tensor["data_offsets"][1] for tensor in header.values()), len(data) - 8 - length)
        self.assertEqual(json.loads((folder / "config.json").read_text())["model"]["architecture"], "gpt")

    def test_3_without_any_of_the_others_newcomers_go_on_from_it(self):
        for program in self.swarm.programs():
            program.kill()
        for volunteer in self.swarm.volunteers:
            shutil.rmtree(volunteer.folder)
        rounds_before = self.coordinator_round()
        self.swarm.volunteers = [self.swarm.newcomer() for _ in self.swarm.volunteers]
        link = self.swarm.coordinator.new_invite("--uses", len(self.swarm.volunteers))
        self.swarm.coordinator.serve()
        for volunteer in self.swarm.volunteers:
            volunteer.start()
            volunteer.join(link)
        self.wait_for_log(self.swarm.coordinator.server, "goes on from the copy that is kept here")
        self.wait_for_rounds(self.swarm.volunteers, 5)
        for volunteer in self.swarm.volunteers:
            self.assertGreaterEqual(min(volunteer.journal()), rounds_before)
        self.assertGreater(self.coordinator_round(), rounds_before)

    def test_4_one_more_downloads_it_from_them(self):
        newcomer = self.swarm.newcomer()
        self.swarm.volunteers.append(newcomer)
        newcomer.start()
        newcomer.join(self.swarm.coordinator.new_invite())
        self.wait_for_rounds([newcomer], 3)

    def test_5_the_newcomers_hold_one_state(self):
        self.swarm.coordinator.pause_run(RUN_ID)
        programs.wait_until(lambda: results.same_state(self.swarm.statuses().values()), "they hold the same state")


if __name__ == "__main__":
    suite.main()
