#!/usr/bin/env python3
"""A swarm trains a model of the operator's own: no volunteer runs it without consent, loss falls, and it comes back
whole."""

import json
import os
import shutil
import struct
import subprocess
import tomllib
from pathlib import Path

import programs
import suite
from swarm_case import RUN_ID, SwarmCase

PYTHON = "/usr/bin/python3"  # the system's, which may have PyTorch
CONTEXT = 64


def has_pytorch():
    return Path(PYTHON).exists() and subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode == 0


class ScriptSwarm(SwarmCase):
    VOLUNTEERS = 2
    # Rounds take a second or so with such a small model: if ten passed in one, no volunteer would find time to judge
    # it.
    SETTINGS = {"target_batch_size": 2048, "micro_batch_size": 64, "peers_max": 4, "checkpoint_rounds": 2,
                "schedule": {"warmup_rounds": 2, "total_rounds": 2000, "learning_rate": 1e-2},
                "model": {"architecture": "script", "program": "model.pt", "parameters": "model.safetensors",
                          "context": CONTEXT}}

    @classmethod
    def prepare(cls):
        run = cls.swarm.folder / "run"
        run.mkdir()
        here = Path(__file__).parent
        if has_pytorch():
            subprocess.run([PYTHON, here / "export_model.py", run], check=True)
        else:
            subprocess.run([os.environ["STARLING_SCRIPT_MODEL"], run], check=True)
        counted = programs.run_command("starling-trainer", "--count", run / "model.pt", "words", CONTEXT).stdout
        costs = tomllib.loads(counted)
        cls.SETTINGS = {**cls.SETTINGS, "flops_per_sample": costs["flops_per_sample"],
                        "model": {**cls.SETTINGS["model"], **costs["model"]}}

    def losses(self):
        return [v.status()["loss"] for v in self.swarm.volunteers]

    def test_1_nobody_runs_it_before_saying_yes(self):
        for volunteer in self.swarm.volunteers:
            status = programs.wait_until(lambda: self.declined(volunteer), f"{volunteer.name} declines")
            self.assertIn("program of the project's own", status["reason"])
            self.assertIn("projects allow", volunteer.command("status").stdout)
            self.assertEqual(list((volunteer.folder / "artefacts").glob("*")), [], "nothing was downloaded")

    @staticmethod
    def declined(volunteer):
        status = volunteer.status()
        return status if status and "only if you agree" in status["reason"] else None

    def test_2_who_has_said_yes_trains_and_text_gets_cheaper(self):
        for volunteer in self.swarm.volunteers:
            volunteer.command("projects", "allow", "End to end")
        self.wait_for_rounds(self.swarm.volunteers, 6)
        rounds = self.swarm.volunteers[0].journal().values()
        self.assertTrue(any(len(round["contributions"]) == 2 for round in rounds), "both are in one group")
        # Held-out text is measured at most a fiftieth of the time: rarely, if other work delays the measurement.
        programs.wait_until(lambda: all(0 < loss < 4 for loss in self.losses()),
                            f"text costs less than 4 nats a byte, of 5.5 at first: {self.losses()}")

    def test_3_a_restarted_daemon_does_not_ask_again(self):
        volunteer = self.swarm.volunteers[0]
        volunteer.daemon.stop()
        volunteer.start()
        self.wait_for_rounds([volunteer], 2)

    def test_4_it_comes_back_as_it_was_brought_with_what_it_has_learnt(self):
        out = self.swarm.folder / "export"

        def exported():
            return self.swarm.coordinator.command("run", "export", self.swarm.coordinator.folder, RUN_ID, out,
                                                  check=False).returncode == 0

        programs.wait_until(exported, "a copy of the state has arrived")
        run = self.swarm.folder / "run"
        self.assertEqual((out / "model.pt").read_bytes(), (run / "model.pt").read_bytes())
        self.assertEqual(shapes(out / "model.safetensors"), shapes(run / "model.safetensors"))
        before, after = (self.bits_of(folder, [os.environ["STARLING_SCRIPT_MODEL"]]) for folder in (run, out))
        self.assertLess(after, before - 0.1, "the program computes with what was learnt")
        if has_pytorch():
            in_python = self.bits_of(out, [PYTHON, Path(__file__).parent / "evaluate_model.py"])
            self.assertLess(abs(in_python - after), 1e-5 * after)

    def bits_of(self, folder, judge):
        """The loss on the held-out text of the model in the folder."""
        done = subprocess.run([*judge, folder / "model.pt", folder / "model.safetensors",
                               self.swarm.folder / "run/held_out.txt", str(CONTEXT)], check=True,
                              capture_output=True, text=True)
        return float(done.stdout)


def shapes(path):
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    head = json.loads(data[8:8 + length])
    return {name: tensor["shape"] for name, tensor in head.items() if name != "__metadata__"}


if __name__ == "__main__":
    suite.main()
