#!/usr/bin/env python3
"""Trains a decoder whose perceptrons are dense and one whose perceptrons are experts, with as many operations for each
token, on the demo's text, and tells the bits per byte of both on text that they have not seen."""

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

import programs
from algorithms import held_out_at, held_out_curve, train_to_the_end
from swarm import Swarm

MICRO_BATCH = 16
BATCH = 64
ACTIVE, EXPERTS = 2, 8
EXPERT_WIDTH = 128
MODEL = {"architecture": "decoder", "layers": 2, "width": 64, "heads": 4, "context": 64}
WAYS = {
    "dense": {"mlp_width": ACTIVE * EXPERT_WIDTH},
    "experts": {"mlp_width": EXPERT_WIDTH, "expert_rows": EXPERTS, "active_experts": ACTIVE},
}
LEARNING_RATE = 3e-3
WARMUP = 0.05  # share of all rounds


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=24_000, metavar="N", help=f"of {MODEL['context']} bytes (24000)")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="trainings of each (3)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="threads that compute (1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE, too")
    return parser.parse_args(arguments)


def settings_of(name, options, seed):
    rounds = max(1, options.samples // BATCH)
    schedule = {"learning_rate": LEARNING_RATE, "warmup_rounds": max(1, round(WARMUP * rounds)), "total_rounds": rounds}
    return {"run_id": name, "title": name, "seed": seed, "target_batch_size": BATCH, "micro_batch_size": MICRO_BATCH,
            "rounds_max": rounds, "model": {**MODEL, **WAYS[name]}, "schedule": schedule}


def train(name, options, seed):
    folder = Path(tempfile.mkdtemp(prefix="starling-experts-"))
    swarm = Swarm(folder, 1, threads=options.threads)
    try:
        run, seconds = train_to_the_end(swarm, name, settings_of(name, options, seed))
        print(file=sys.stderr)
        curve = held_out_curve(swarm)
        return {"model": name, "seed": seed, "samples": run["ledger_samples"], "seconds": round(seconds),
                "bits_per_byte": held_out_at(curve, run["ledger_samples"]), "curve": curve}
    finally:
        swarm.stop()
        if "STARLING_KEEP" not in os.environ:
            shutil.rmtree(folder, ignore_errors=True)


def main(arguments=None):
    options = parse_arguments(arguments)
    rows = [train(name, options, seed) for seed in range(1, options.seeds + 1) for name in WAYS]
    print("| model | held-out bits a byte, by seed | mean | time, s |\n|---|---|---:|---:|")
    for name in WAYS:
        own = [row for row in rows if row["model"] == name]
        bits = [row["bits_per_byte"] for row in own]
        print(f"| {name} | {', '.join(f'{each:.3f}' for each in bits)} | {statistics.mean(bits):.3f} | "
              f"{statistics.mean(row['seconds'] for row in own):.0f} |")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    try:
        main()
    except (programs.ProgramError, KeyboardInterrupt) as problem:
        sys.exit(f"\n{problem or 'stopped'}")
