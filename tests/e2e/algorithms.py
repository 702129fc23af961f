#!/usr/bin/env python3
"""Trains one model by several algorithms on equally many samples, with real processes, and reports the cost of each:
bytes between volunteers for every sample and for every round, time, and the loss on text that the model has not seen.
Each is compared with the first one, of the same seed if there are several."""

import argparse
import json
import math
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import programs
from swarm import Swarm

MODEL = {"layers": 2, "width": 64, "heads": 2, "context": 64}
MICRO_BATCH = 32
FINE_MICRO_BATCH = 4  # for gradients: every volunteer is then near the end of one when a round is full
STEPS = 50  # by every volunteer between two averagings of a parameter, if there are local steps
FRAGMENTS = 4  # for streaming-diloco, one a round
SPARSE_STEPS = 10  # fewer, since little is sent of each displacement
TIMEOUT_S = 3600
# The rounds of local steps are few here: an outer momentum of 0.9 would hardly have begun when they end.
SHORT_OUTER = {"optimizer": {"momentum": 0.6, "nesterov": True}, "schedule": {"learning_rate": 0.8}}
STEP_WARMUP, LOCAL_WARMUP = 0.05, 0.2  # shares of all rounds: a round of local steps is many steps at one rate
# the first algorithm trains this many times its schedule's rounds, so its states are judged at the others' samples too
FURTHER = 1.1
WAYS = {
    "dedloc": {"steps": 1, "micro_batch_size": FINE_MICRO_BATCH, "schedule": {"learning_rate": 8e-3}},
    "local-sgd": {"steps": STEPS, "local.schedule": {"learning_rate": 0.5}},
    "diloco": {"steps": STEPS, "local.schedule": {"learning_rate": 8e-3}, **SHORT_OUTER},
    "streaming-diloco": {"steps": STEPS // FRAGMENTS, "local.schedule": {"learning_rate": 8e-3}, **SHORT_OUTER},
    "eager-diloco": {"steps": STEPS, "local.schedule": {"learning_rate": 8e-3}, **SHORT_OUTER},
    "decentralized-adam": {"steps": STEPS, "local.schedule": {"learning_rate": 3e-3}},
    "sparseloco": {"steps": SPARSE_STEPS, "local.schedule": {"learning_rate": 8e-3}},
}


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--algorithm", action="append", choices=sorted(WAYS), help="which; again for more (all)")
    parser.add_argument("--samples", type=int, default=96_000, metavar="N", help="of all volunteers together (96000)")
    parser.add_argument("--volunteers", type=int, default=4, metavar="N", help="daemons (4)")
    parser.add_argument("--mbit", type=float, default=20, metavar="M", help="each volunteer's limit both ways (20); 0: none")
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="runs of each, from other parameters and samples (1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE, too")
    return parser.parse_args(arguments)


def settings_of(name, options, seed, further=1.0):
    """The fewest rounds that the samples allow; every schedule ends with them, and rounds continue `further` times as far."""
    way = dict(WAYS[name])
    batch = MICRO_BATCH * options.volunteers * way.pop("steps")
    rounds = max(1, round(options.samples / batch))
    steps_by, warmup = ("local.schedule", LOCAL_WARMUP) if "local.schedule" in way else ("schedule", STEP_WARMUP)
    way[steps_by] = {**way[steps_by], "warmup_rounds": max(1, round(warmup * rounds)), "total_rounds": rounds}
    return {"algorithm": name, "run_id": name, "title": name, "seed": seed, "target_batch_size": batch, "micro_batch_size": MICRO_BATCH,
            "rounds_max": round(further * rounds), "peers_max": 2 * options.volunteers, "model": MODEL, **way}


def train_to_the_end(swarm, name, settings):
    """Trains until rounds_max; returns the run's status with the last state's held-out loss, and the seconds it
    took."""
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


def held_out_curve(swarm):
    """[(samples of all rounds before, bits per byte)] for every state that was judged."""
    samples = {}
    for journal in swarm.journals().values():
        samples.update({number: sum(entry["contributions"].values()) for number, entry in journal.items()})
    judged = swarm.coordinator.rows("SELECT round, MIN(bits_per_byte) FROM evaluation GROUP BY round ORDER BY round")
    return [(sum(samples[number] for number in range(state)), bits) for state, bits in judged]


def held_out_at(curve, samples):
    """Interpolates: between two judged states, bits are assumed to fall with the logarithm of samples."""
    for (before, more), (after, fewer) in zip(curve, curve[1:]):
        if 0 < before <= samples <= after:
            return more + (fewer - more) * math.log(samples / before) / math.log(after / before)
    return curve[-1][1]


def train(name, options, seed, folder, further=1.0):
    swarm = Swarm(folder, options.volunteers)
    if options.mbit:
        for volunteer in swarm.volunteers:
            volunteer.PREFERENCES = {**volunteer.PREFERENCES, "upload_max_mbit_s": options.mbit,
                                     "download_max_mbit_s": options.mbit}
    try:
        run, seconds = train_to_the_end(swarm, name, settings_of(name, options, seed, further))
        sent = sum(s["rules"]["month_averaging_bytes"] / 2 for s in swarm.statuses().values())
        print(file=sys.stderr)
        return {"algorithm": name, "seed": seed, "samples": run["ledger_samples"], "rounds": run["round"], "seconds": round(seconds),
                "bytes_per_sample": sent / run["ledger_samples"],
                "bytes_per_round_and_volunteer": sent / run["round"] / options.volunteers,
                "curve": held_out_curve(swarm)}
    finally:
        swarm.stop()


def compare(rows):
    """Adds to each the ratio of the first one's bytes to its own, and its loss after equally many samples."""
    samples = min(row["samples"] for row in rows)
    first = held_out_at(rows[0]["curve"], samples)
    for row in rows:
        bits = held_out_at(row["curve"], samples)
        row.update({f"{of}_ratio": rows[0][of] / row[of] for of in ("bytes_per_sample", "bytes_per_round_and_volunteer")},
                   compared_at_samples=samples, bits_per_byte=bits, bits_percent=100 * (bits / first - 1))


def print_table(rows):
    print(f"held-out bits a byte after {rows[0]['compared_at_samples']} samples, seed {rows[0]['seed']}; "
          f"{rows[0]['algorithm']} is 1\n\n"
          "| algorithm | samples | rounds | time, s | bytes sent a sample | fewer | a round and volunteer | fewer "
          "| held-out bits a byte | more |\n|---" + "|---:" * 9 + "|")
    for row in rows:
        print(f"| `{row['algorithm']}` | {row['samples']} | {row['rounds']} | {row['seconds']} | "
              f"{row['bytes_per_sample']:.0f} | {row['bytes_per_sample_ratio']:.1f}x | "
              f"{row['bytes_per_round_and_volunteer']:.0f} | {row['bytes_per_round_and_volunteer_ratio']:.1f}x | "
              f"{row['bits_per_byte']:.3f} | {row['bits_percent']:.1f} % |")
    print(flush=True)


def print_seeds(by_seed):
    """Figures that differ from seed to seed, with their mean and standard deviation."""
    print(f"{len(by_seed)} seeds\n\n| algorithm | fewer bytes a sample | held-out bits a byte | more | mean | deviation |\n"
          "|---|---:|---:|---:|---:|---:|")
    for rows in zip(*by_seed):
        more = [row["bits_percent"] for row in rows]
        fewer = ", ".join(f"{row['bytes_per_sample_ratio']:.1f}x" for row in rows)
        bits = ", ".join(f"{row['bits_per_byte']:.3f}" for row in rows)
        print(f"| `{rows[0]['algorithm']}` | {fewer} | {bits} | {', '.join(f'{percent:.1f} %' for percent in more)} | "
              f"{statistics.mean(more):.1f} % | {statistics.stdev(more):.1f} % |")


def train_all(options, seed):
    rows = []
    for name in options.algorithm or list(WAYS):
        folder = Path(tempfile.mkdtemp(prefix="starling-algorithms-"))
        try:
            rows.append(train(name, options, seed, folder, 1.0 if rows else FURTHER))
        finally:
            if "STARLING_KEEP" not in os.environ:
                shutil.rmtree(folder, ignore_errors=True)
    compare(rows)
    return rows


def main(arguments=None):
    options = parse_arguments(arguments)
    by_seed = []
    for seed in range(1, options.seeds + 1):
        by_seed.append(train_all(options, seed))
        print_table(by_seed[-1])
    if len(by_seed) > 1:
        print_seeds(by_seed)
    if options.json:
        options.json.write_text(json.dumps([row for rows in by_seed for row in rows], indent=1) + "\n")


if __name__ == "__main__":
    try:
        main()
    except (programs.ProgramError, KeyboardInterrupt) as problem:
        sys.exit(f"\n{problem or 'stopped'}")
