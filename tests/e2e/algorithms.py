#!/usr/bin/env python3
"""Trains one model by several algorithms on equally many samples, with real processes, and says what each cost: bytes
between volunteers for every sample, rounds, time, and how well the model then knows text that it has not seen."""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import programs
from swarm import Swarm

MODEL = {"layers": 2, "width": 64, "heads": 2, "context": 64}
MICRO_BATCH = 32
FINE_MICRO_BATCH = 8  # of gradients: nobody is then far from the end of one when a round is full
STEPS = 50  # of every volunteer between two averagings of a parameter, where there are local steps
TIMEOUT_S = 3600
WAYS = {
    "dedloc": {"local": False, "micro_batch_size": FINE_MICRO_BATCH, "schedule": {"learning_rate": 3e-3}},
    "local-sgd": {"local": True, "local.schedule": {"learning_rate": 0.5}},
    "diloco": {"local": True, "local.schedule": {"learning_rate": 3e-3}},
    "streaming-diloco": {"local": True, "fragments": 4, "local.schedule": {"learning_rate": 3e-3}},
    "eager-diloco": {"local": True, "local.schedule": {"learning_rate": 3e-3}},
    "decentralized-adam": {"local": True, "local.schedule": {"learning_rate": 3e-3}},
    "sparseloco": {"local": True, "local.schedule": {"learning_rate": 3e-3}},
}


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--algorithm", action="append", choices=sorted(WAYS), help="which; again for more (all)")
    parser.add_argument("--samples", type=int, default=200_000, metavar="N", help="of all volunteers together (200000)")
    parser.add_argument("--volunteers", type=int, default=4, metavar="N", help="daemons (4)")
    parser.add_argument("--mbit", type=float, default=20, metavar="M", help="each volunteer's limit both ways (20); 0: none")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE, too")
    return parser.parse_args(arguments)


def settings_of(name, options):
    """As few rounds as the samples make; every schedule ends with them."""
    way = dict(WAYS[name])
    steps = STEPS // way.pop("fragments", 1) if way.pop("local") else 1
    batch = MICRO_BATCH * options.volunteers * steps
    rounds = max(1, round(options.samples / batch))
    for schedule in (way.get("local.schedule"), None if "local.schedule" in way else way["schedule"]):
        if schedule is not None:
            schedule.update(warmup_rounds=max(1, rounds // 20), total_rounds=rounds)
    return {"algorithm": name, "run_id": name, "title": name, "target_batch_size": batch, "micro_batch_size": MICRO_BATCH,
            "rounds_max": rounds, "peers_max": 2 * options.volunteers, "model": MODEL, **way}


def train_to_the_end(swarm, name, settings):
    """Until rounds_max; returns the run's status with the last state's held-out loss, and the seconds it took."""
    swarm.create(name, settings)
    began = time.monotonic()
    last = settings["rounds_max"] - 1
    told = None

    def complete():
        nonlocal told
        journals = swarm.journals().values()  # plain files: asking the daemons would cost the trainers time
        rounds = min(max(journal, default=-1) for journal in journals) + 1
        if rounds != told:
            told = rounds
            print(f"\r{name}: {rounds} of {last + 1} rounds", end="", file=sys.stderr, flush=True)
        return rounds > last

    programs.wait_until(complete, f"{name} is complete", TIMEOUT_S)
    seconds = time.monotonic() - began

    def judged():
        run = swarm.coordinator.run_status(settings["run_id"])
        return run if run["validation"] and run["validation"]["round"] >= run["round"] else None

    return programs.wait_until(judged, "somebody has judged the last state", 120), seconds


def train(name, options, folder):
    swarm = Swarm(folder, options.volunteers)
    if options.mbit:
        for volunteer in swarm.volunteers:
            volunteer.PREFERENCES = {**volunteer.PREFERENCES, "upload_max_mbit_s": options.mbit,
                                     "download_max_mbit_s": options.mbit}
    try:
        run, seconds = train_to_the_end(swarm, name, settings_of(name, options))
        sent = sum(s["rules"]["month_averaging_bytes"] / 2 for s in swarm.statuses().values())
        print(file=sys.stderr)
        return {"algorithm": name, "samples": run["ledger_samples"], "rounds": run["round"], "seconds": round(seconds, 1),
                "bytes_per_sample": round(sent / run["ledger_samples"], 1),
                "bytes_per_round_and_volunteer": round(sent / run["round"] / options.volunteers),
                "bits_per_byte": round(run["validation"]["bits_per_byte"], 4)}
    finally:
        swarm.stop()


def main(arguments=None):
    options = parse_arguments(arguments)
    rows = []
    for name in options.algorithm or list(WAYS):
        folder = Path(tempfile.mkdtemp(prefix="starling-algorithms-"))
        try:
            rows.append(train(name, options, folder))
        finally:
            if "STARLING_KEEP" not in os.environ:
                shutil.rmtree(folder, ignore_errors=True)
    print("| " + " | ".join(rows[0]) + " |\n|" + "---|" * len(rows[0]))
    for row in rows:
        print("| " + " | ".join(str(value) for value in row.values()) + " |")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    try:
        main()
    except (programs.ProgramError, KeyboardInterrupt) as problem:
        sys.exit(f"\n{problem or 'stopped'}")
