#!/usr/bin/env python3
"""The gain and the cost of delayed parameter updates: samples per second of volunteers that compute alone, that average
on shaped lines, and that average while they compute; then the held-out loss after equally many samples. Needs root.

Other work on this machine takes cores from trainers. It does not change 'busy', the share of the time in which trainers
run or wait for a core, and changes 'a core-second', the samples for each second in which one ran, only a little: their
product, over that of volunteers that compute alone, is the result without competition for the cores ('at equal cores').
'daemons' are the cores that these use for averaging and everything else. With --apart they use none of the trainers':
all trainers together have half of the cores in each of the three ways, and everything else has the other half."""

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import homes
import programs
from algorithms import train_to_the_end
from nat_test import NatCoordinator
from swarm import Swarm

ALONE, AT_ONCE, DELAYED = "alone", "at once", "delayed"
BOUNDLESS = 200_000  # samples: no round closes during the measurement
WARM_ROUNDS = 4
TIMEOUT_S = 3600
# For speed: 4.3 million parameters, 17 MB a gradient. For loss: the demo's model.
FAST = {"micro_batch_size": 4, "model": {"layers": 5, "width": 256, "heads": 4, "context": 128}}
DEMO = {"micro_batch_size": 8, "target_batch_size": 96, "model": {"layers": 4, "width": 128, "heads": 4, "context": 128}}


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--volunteers", type=int, default=2, metavar="N", help="daemons (2)")
    parser.add_argument("--mbit", type=int, default=100, metavar="M", help="each volunteer's line, both ways (100)")
    parser.add_argument("--batch", type=int, metavar="N",
                        help="samples a round, where speed is measured (120; with --apart 60)")
    parser.add_argument("--window", type=float, default=20, metavar="S", help="seconds of a measurement (20)")
    parser.add_argument("--windows", type=int, default=5, metavar="N", help="measurements of each, taken in turn (5)")
    parser.add_argument("--apart", action="store_true", help="trainers have half of the cores, all else has the others")
    parser.add_argument("--rounds", type=int, default=400, metavar="N", help="of which the loss is compared; 0: not (400)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE, too")
    return parser.parse_args(arguments)


@dataclass
class Speed:
    samples_per_s: float
    round_s: float
    busy: float
    samples_per_core_s: float
    daemons: float

    def at_equal_cores(self, alone):
        return self.busy * self.samples_per_core_s / (alone.busy * alone.samples_per_core_s)


def schedule_of(task):
    """The seconds that it has run, and waited for a core."""
    ran, waited, _ = Path(task, "schedstat").read_text().split()
    return int(ran) / 1e9, int(waited) / 1e9


def halves():
    """This process's cores, divided in two."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise programs.ProgramError("--apart needs two cores or more")
    return set(cores[:len(cores) // 2]), set(cores[len(cores) // 2:])


class ShapedSwarm(Swarm):
    """Gives each volunteer a line of its own, with an address that others can dial."""

    def __init__(self, folder, options):
        super().__init__(folder, options.volunteers)
        self.internet = homes.Internet(self.logs / "namespaces.log", options.volunteers)
        self.coordinator = NatCoordinator(self.folder / "coordinator", self.logs / "coordinator.log", self.internet.core)
        for number, volunteer in enumerate(self.volunteers):
            self.internet.shape(number, options.mbit)
            command = [part if part != "127.0.0.1" else "0.0.0.0" for part in volunteer.daemon.command]
            volunteer.daemon.command = self.internet.routers[number].inside(*command)

    def computed(self):
        return sum(status["samples_total"] for status in self.statuses().values())

    def has_measured(self):
        """Whether the held-out loss is measured: by two volunteers at first, and not again for minutes."""
        measured = [status.get("validation_bits_per_byte") is not None for status in self.statuses().values() if status]
        return sum(measured) >= min(2, len(self.volunteers))

    def daemons(self):
        return [volunteer.daemon.process.pid for volunteer in self.volunteers]

    def trainers(self):
        daemons = self.daemons()
        return [pid for pid, name, parent, _ in programs.processes()
                if parent in daemons and name == "starling-trainer"[:15]]

    def keep_trainers_on(self, cores):
        for trainer in self.trainers():
            for task in Path(f"/proc/{trainer}/task").iterdir():
                os.sched_setaffinity(int(task.name), cores)

    def trainers_are_on(self, cores):
        """All trainers are there, and none has restarted."""
        trainers = self.trainers()
        return len(trainers) == len(self.volunteers) and all(os.sched_getaffinity(pid) == cores for pid in trainers)

    def usage(self):
        """Seconds that trainers have run, that they waited for a core, and that daemons have run."""
        daemons = self.daemons()
        ran, waited = map(sum, zip(*(schedule_of(f"/proc/{pid}") for pid in self.trainers())))
        threads = [task for pid in daemons for task in Path(f"/proc/{pid}/task").iterdir()]
        return ran, waited, sum(schedule_of(task)[0] for task in threads)

    def stop(self):
        super().stop()
        self.internet.stop()


def settings_of(way, options):
    return {**FAST, "run_id": "overlap", "title": way, "codec": "fp32", "peers_max": 2 * options.volunteers,
            "target_batch_size": BOUNDLESS if way == ALONE else options.batch, "delay_parameter_updates": way == DELAYED,
            "schedule": {"learning_rate": 1e-3, "warmup_rounds": 20, "total_rounds": 1000}}


def measure_speed(way, options, folder):
    """Speed of all volunteers together."""
    swarm = ShapedSwarm(folder, options)
    try:
        swarm.create(way, settings_of(way, options))
        if options.apart:
            programs.wait_until(lambda: swarm.computed() > 0 and len(swarm.trainers()) == options.volunteers,
                                "all compute", 120)
            swarm.keep_trainers_on(options.trainer_cores)
        warm = 0 if way == ALONE else WARM_ROUNDS
        programs.wait_until(lambda: swarm.computed() > 8 * options.volunteers and swarm.has_measured() and
                            all(len(journal) >= warm for journal in swarm.journals().values()), f"{way} is warm", 240)
        rounds, usage = len(swarm.volunteers[0].journal()), swarm.usage()
        computed, began = swarm.computed(), time.monotonic()
        time.sleep(options.window)  # the length of the measurement, not a wait for anything
        computed, seconds = swarm.computed() - computed, time.monotonic() - began
        rounds = len(swarm.volunteers[0].journal()) - rounds
        ran, waited, daemons = (after - before for before, after in zip(usage, swarm.usage()))
        if options.apart and not swarm.trainers_are_on(options.trainer_cores):
            raise programs.ProgramError("a trainer was started anew, on other cores than it was given")
        return Speed(computed / seconds, seconds / rounds if rounds else 0, (ran + waited) / seconds / options.volunteers,
                     computed / ran, daemons / seconds)
    finally:
        swarm.stop()


def measure_loss(way, options, folder):
    swarm = ShapedSwarm(folder, options)
    try:
        schedule = {"warmup_rounds": options.rounds // 20, "total_rounds": options.rounds}
        run, seconds = train_to_the_end(swarm, way, {
            **DEMO, "target_batch_size": options.loss_batch, "run_id": "loss", "title": way, "rounds_max": options.rounds,
            "schedule": schedule, "peers_max": 2 * options.volunteers, "delay_parameter_updates": way == DELAYED})
        print(file=sys.stderr)
        return {"updates": way, "rounds": run["round"], "samples": run["ledger_samples"], "seconds": round(seconds, 1),
                "bits_per_byte": run["validation"]["bits_per_byte"]}
    finally:
        swarm.stop()


def losses(options):
    """Compares at equally many samples in equally many rounds: without waiting, a round gets a few more samples than
    its target, and the other way is then given the larger number as its target."""
    options.loss_batch = DEMO["target_batch_size"]
    delayed = in_a_folder(measure_loss, DELAYED, options)
    options.loss_batch = round(delayed["samples"] / delayed["rounds"])
    at_once = in_a_folder(measure_loss, AT_ONCE, options)
    for row in (at_once, delayed):
        row["more"] = f"{100 * (row['bits_per_byte'] / at_once['bits_per_byte'] - 1):.2f} %"
        row["bits_per_byte"] = round(row["bits_per_byte"], 4)
    return [at_once, delayed]


def in_a_folder(measure, way, options):
    folder = Path(tempfile.mkdtemp(prefix="starling-overlap-"))
    try:
        return measure(way, options, folder)
    finally:
        if "STARLING_KEEP" not in os.environ:
            shutil.rmtree(folder, ignore_errors=True)


def speeds(options):
    measured = {way: [] for way in (ALONE, AT_ONCE, DELAYED)}
    for turn in range(options.windows):
        for way, figures in measured.items():
            figures.append(in_a_folder(measure_speed, way, options))
            print(f"{turn + 1}: {way}: {figures[-1]}", file=sys.stderr)

    def median(way, what):
        return statistics.median(getattr(speed, what) for speed in measured[way])

    rows = []
    for way, figures in measured.items():
        pairs = list(zip(figures, measured[ALONE]))
        equal = [speed.at_equal_cores(alone) for speed, alone in pairs]
        rows.append({"updates": way, "samples/s": round(median(way, "samples_per_s"), 1),
                     "of alone": round(statistics.median(s.samples_per_s / alone.samples_per_s for s, alone in pairs), 3),
                     "at equal cores": round(statistics.median(equal), 3), "least": round(min(equal), 3),
                     "most": round(max(equal), 3), "busy": round(median(way, "busy"), 3),
                     "a core-second": round(median(way, "samples_per_core_s"), 2),
                     "daemons": round(median(way, "daemons"), 3), "a round, s": round(median(way, "round_s"), 2)})
    return rows


def print_table(rows):
    print("| " + " | ".join(rows[0]) + " |\n|" + "---|" * len(rows[0]))
    for row in rows:
        print("| " + " | ".join(str(value) for value in row.values()) + " |")


def main(arguments=None):
    options = parse_arguments(arguments)
    if homes.missing():
        raise programs.ProgramError(homes.missing())
    options.batch = options.batch or (60 if options.apart else 120)  # equal lengths of rounds
    if options.apart:
        options.trainer_cores, others = halves()
        os.sched_setaffinity(0, others)  # inherited by everything started from here
    tables = {}
    if options.windows:
        tables["speed"] = speeds(options)
        print_table(tables["speed"])
    if options.rounds:
        tables["loss"] = losses(options)
        print_table(tables["loss"])
    if options.json:
        options.json.write_text(json.dumps(tables, indent=1) + "\n")


if __name__ == "__main__":
    try:
        main()
    except (programs.ProgramError, KeyboardInterrupt) as problem:
        sys.exit(f"\n{problem or 'stopped'}")
