#!/usr/bin/env python3
"""Twelve volunteers train a model whose parameters and moments take four times the memory that any of them may use: their
control groups would end who takes more.

    larger_test.py [--seconds 300] [--limit 1.5]    GB each, counted with all that the programs and libraries take
"""

import argparse
import os
import time
from pathlib import Path

import programs
import suite
from cells_test import CellsCase
from swarm_case import RUN_ID

VOLUNTEERS = 12
TIMES = 4  # the model's memory over a volunteer's
RESIDENT_MAX = 1.1  # over what was predicted
GUESSING = 5.545  # nats a byte: ln 256
POLL_S = 1.0

WIDTH, HIDDEN, LAYERS, CONTEXT = 256, 1024, 4, 32
EXPERT_PARAMETERS = 3 * WIDTH * HIDDEN
TRUNK_PARAMETERS = LAYERS * 4 * WIDTH * WIDTH + 2 * 256 * WIDTH
EXPERTS_PER_CELL = 2
STATE_BYTES = 4 * 4  # a parameter's, with the three moments of accum_adamw
ROUND_BYTES = 4 * 4  # in the vectors that rounds go through
PROGRAMS_BYTES = 200e6
OF_LIMIT = 0.95  # the most that preferences can allow
DESK = 1 / 16  # of what is allowed, for values of calls

options = argparse.Namespace(seconds=300, limit=1.5)


class MemoryGroup:
    """A control group, of version 1 or 2, of processes that may take so many bytes of memory together."""

    def __init__(self, name, limit_bytes):
        self.folder = self.above() / f"starling-{os.getpid()}-{name}"
        self.folder.mkdir()
        self.is_first = (self.folder / "memory.limit_in_bytes").exists()
        (self.folder / ("memory.limit_in_bytes" if self.is_first else "memory.max")).write_text(str(int(limit_bytes)))

    @staticmethod
    def above():
        """This process's own group, below which it may make others, perhaps."""
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, place = line.split(":", 2)
            mount = {"memory": "/sys/fs/cgroup/memory", "": "/sys/fs/cgroup"}.get(controllers)
            group = mount and Path(mount) / place.lstrip("/")
            if group and (group / "memory.stat").exists():
                return group
        raise OSError("no control group of memory is mounted")

    @classmethod
    def missing(cls):
        """Why none can be made; empty if one can."""
        try:
            cls("probe", 1e9).remove()
        except OSError as problem:
            return f"this system lets us limit no memory: {problem}"
        return ""

    def command(self, command):
        """The command, as it runs in this group."""
        return ["sh", "-c", f'echo $$ > {self.folder / "cgroup.procs"} && exec "$@"', "sh", *command]

    def figures(self, name):
        lines = (self.folder / name).read_text().splitlines()
        return {key: int(value) for key, value in (line.split() for line in lines)}

    def resident_bytes(self):
        """Without files in memory, which go when others need it."""
        stat = self.figures("memory.stat")
        return stat["total_rss"] + stat["total_shmem"] if self.is_first else stat["anon"] + stat["shmem"]

    def killed(self):
        return self.figures("memory.oom_control" if self.is_first else "memory.events")["oom_kill"]

    def remove(self):
        self.folder.rmdir()


def columns_of(limit_bytes):
    """Columns of a square grid of experts in each layer, so that the model is as large as it has to be."""
    experts = TIMES * limit_bytes / STATE_BYTES / LAYERS / EXPERT_PARAMETERS
    columns = 1
    while columns * columns < experts:
        columns += 1
    return columns


class LargerThanAny(CellsCase):
    VOLUNTEERS = VOLUNTEERS
    HELD_OUT_BYTES = 8 * CONTEXT  # each token goes through experts of many others

    @classmethod
    def prepare(cls):
        cls.limit = 1e9 * options.limit
        columns = columns_of(cls.limit)
        cls.parameters = TRUNK_PARAMETERS + LAYERS * columns * columns * EXPERT_PARAMETERS
        cls.SETTINGS = {**cls.SETTINGS, "optimizer": {"kind": "accum_adamw"}, "checkpoint_rounds": 100_000,
                        "target_batch_size": 48, "micro_batch_size": 2,
                        "model": {"architecture": "decoder", "layers": LAYERS, "width": WIDTH, "heads": 4,
                                  "context": CONTEXT, "vocabulary": 256, "mlp_width": HIDDEN, "expert_rows": columns,
                                  "expert_columns": columns, "active_experts": 2},
                        "cells": {"experts_per_cell": EXPERTS_PER_CELL, "holders": 1}}
        cls.groups = {}
        for volunteer in cls.swarm.volunteers:
            cls.groups[volunteer] = group = MemoryGroup(volunteer.name, cls.limit)
            cls.addClassCleanup(group.remove)
            volunteer.daemon.command = group.command(volunteer.daemon.command)
            volunteer.PREFERENCES = {**volunteer.PREFERENCES, "memory_idle_percent": 95, "memory_in_use_percent": 95}

    def held(self, volunteer):
        status = volunteer.status()
        return len(status["cells"]["held"]) if status and status.get("cells") else 0

    def predicted_bytes(self, cells):
        of_parameters = TRUNK_PARAMETERS + cells * EXPERTS_PER_CELL * EXPERT_PARAMETERS
        return PROGRAMS_BYTES + DESK * OF_LIMIT * self.limit + (STATE_BYTES + ROUND_BYTES) * of_parameters

    def test_1_it_trains_and_nobody_takes_more_than_was_said(self):
        self.assertGreaterEqual(self.parameters * STATE_BYTES, TIMES * self.limit)
        programs.wait_until(lambda: len(self.holders()) > 0 and min(self.holders()) >= 1, "a holder of each expert")
        programs.wait_until(lambda: self.swarm.coordinator.run_status(RUN_ID)["round"] > 0, "the first round")
        began, most = time.monotonic(), 0
        samples = self.swarm.coordinator.run_status(RUN_ID)["ledger_samples"]
        while time.monotonic() < began + options.seconds:
            time.sleep(POLL_S)
            for volunteer, group in self.groups.items():
                most = max(most, group.resident_bytes() / self.predicted_bytes(self.held(volunteer)))
        trained = self.swarm.coordinator.run_status(RUN_ID)["ledger_samples"] - samples
        cells = [self.held(volunteer) for volunteer in self.swarm.volunteers]
        print(f"{self.parameters / 1e6:.0f} million parameters, {self.parameters * STATE_BYTES / 1e9:.2f} GB with moments, "
              f"{options.limit} GB each; {sum(cells)} cells, {min(cells)} to {max(cells)} each; {trained} samples in "
              f"{options.seconds:.0f} s, loss {self.loss():.3f}; resident at most {most:.3f} of what was predicted")
        self.assertGreater(trained, 0)
        self.assertTrue(0 < self.loss() < GUESSING)
        self.assertEqual([group.killed() for group in self.groups.values()], [0] * VOLUNTEERS)
        self.assertEqual(self.swarm.died(), [])
        self.assertLessEqual(most, RESIDENT_MAX)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=options.seconds)
    parser.add_argument("--limit", type=float, default=options.limit, metavar="GB")
    parser.parse_args(namespace=options)
    if why := MemoryGroup.missing():
        suite.skip(why)
    suite.main([])


if __name__ == "__main__":
    main()
