#!/usr/bin/env python3
"""Four volunteers train an ALBERT on the Linux kernel's documentation (Debian: linux-doc, 28 MB) for some minutes of
processor time, from text to a curve: the share of the words left out of held-out text that the model guesses, beside
the share of the commonest word, which a guess without looking reaches."""

import argparse
import array
import gzip
import importlib.util
import json
import os
import shutil
import struct
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import programs
from limits_test import processor_seconds
from swarm import Swarm

DOCUMENTATION = "linux-doc-*/Documentation"
BYTES_MIN = 20_000_000
RUN_ID = "albert"
SPECIAL_TOKENS = 5  # padding, unknown, begin, end, mask
MODEL = {"architecture": "albert", "layers": 2, "width": 128, "heads": 4, "context": 48, "embedding_width": 64,
         "mlp_width": 512}
SETTINGS = {"run_id": RUN_ID, "title": "The kernel's documentation", "target_batch_size": 256, "micro_batch_size": 16,
            "optimizer": {"kind": "lamb"}, "schedule": {"learning_rate": 1e-2, "warmup_rounds": 30, "total_rounds": 1600}}


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cpu-minutes", type=float, default=20, metavar="M", help="of all volunteers' programs (20)")
    parser.add_argument("--volunteers", type=int, default=4, metavar="N", help="daemons (4)")
    parser.add_argument("--vocabulary", type=int, default=2000, metavar="N", help="tokens (2000)")
    parser.add_argument("--documents", type=Path, default=Path("/usr/share/doc"), metavar="DIR", help="where linux-doc is")
    parser.add_argument("--figure", type=Path, metavar="FILE", help="draw the curve (an SVG; needs python3-matplotlib)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE, too")
    return parser.parse_args(arguments)


def write_text(documents, folder):
    """Writes every document to a file of its own; returns the files, in a fixed order."""
    folder.mkdir()
    sources = sorted(path for path in documents.glob(f"{DOCUMENTATION}/**/*")
                     if path.name.endswith((".rst.gz", ".txt.gz")) and "html" not in path.parts)
    files, size = [], 0
    for number, source in enumerate(sources):
        text = gzip.decompress(source.read_bytes()).decode("utf-8", "replace").encode()
        files.append(folder / f"{number:05}.txt")
        files[-1].write_bytes(text)
        size += len(text)
    if size < BYTES_MIN:
        raise programs.ProgramError(f"{size} bytes of text in {documents}/{DOCUMENTATION}: apt install linux-doc")
    print(f"{len(files)} documents, {size / 1e6:.1f} MB", file=sys.stderr)
    return files


def share_of_commonest(shards):
    """Counts of the words in the training data; tokens are the tensor `tokens` (U16) of safetensors files."""
    counts = Counter()
    for path in shards.iterdir():
        if len(path.name) != 64:
            continue
        data = path.read_bytes()
        header_bytes, = struct.unpack_from("<Q", data)
        tokens = json.loads(data[8:8 + header_bytes])["tokens"]
        begin, end = (8 + header_bytes + offset for offset in tokens["data_offsets"])
        counts.update(array.array("H", data[begin:end]))
    words = {token: count for token, count in counts.items() if token >= SPECIAL_TOKENS}
    return max(words.values()) / sum(words.values())


def seconds_used(volunteer):
    """Processor time of the daemon and its trainer; a trainer that was replaced counts for its daemon."""
    used = 0
    for pid in programs.session_members(volunteer.daemon.process.pid):
        try:
            used += processor_seconds(f"/proc/{pid}/stat")
        except OSError:
            continue  # it has just ended
    return used


def watch(swarm, minutes):
    """A point for every held-out figure: processor minutes, samples, accuracy, bits."""
    points = []

    def used():
        return sum(map(seconds_used, swarm.volunteers)) / 60

    def is_over():
        spent = used()
        run = swarm.coordinator.run_status(RUN_ID)
        told = run["validation"]
        if told and (not points or told["round"] > points[-1]["round"]):
            points.append({"round": told["round"], "cpu_minutes": round(spent, 2), "samples": run["ledger_samples"],
                           "accuracy": told["accuracy"], "bits_per_sample": told["bits_per_byte"]})
            print(f"\r{spent:.1f} of {minutes:g} processor minutes, {run['ledger_samples']} samples: "
                  f"{100 * told['accuracy']:.1f} % guessed right ", end="", file=sys.stderr, flush=True)
        return spent >= minutes

    while not is_over():
        time.sleep(2)  # between two looks
    print(file=sys.stderr)
    return points


def train(options, folder):
    files = write_text(options.documents, folder / "text")
    shards = folder / "shards"
    programs.run_command("starling-coordinator", "data", "prepare", "text", shards, *files, "--vocabulary",
                         options.vocabulary, "--shard-mb", 4, timeout_s=900)
    commonest = share_of_commonest(shards)
    swarm = Swarm(folder, options.volunteers)
    try:
        settings = {**SETTINGS, "model": {**MODEL, "vocabulary": options.vocabulary},
                    "data": {"kind": "tokens", "shards": str(shards / "shards.json")}}
        swarm.create(RUN_ID, settings)
        return commonest, watch(swarm, options.cpu_minutes)
    finally:
        swarm.stop()


def draw(points, commonest, options):
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = RUN_ID
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(7, 3.6))
    axes.plot([point["cpu_minutes"] for point in points], [100 * point["accuracy"] for point in points], marker=".",
              label=f"{options.volunteers} volunteers")
    axes.axhline(100 * commonest, color="gray", linestyle="--", label="always the commonest word")
    axes.set(xlabel="minutes of processor time, of all together", ylabel="left-out words guessed right, %",
             title="ALBERT on the Linux kernel's documentation", ylim=(0, None), xlim=(0, None))
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    figure.tight_layout()
    figure.savefig(options.figure, metadata={"Date": None})


def main(arguments=None):
    options = parse_arguments(arguments)
    if options.figure and not importlib.util.find_spec("matplotlib"):
        raise programs.ProgramError(f"--figure: {sys.executable} has no matplotlib; Debian's /usr/bin/python3 has it from "
                                    "python3-matplotlib")
    folder = Path(tempfile.mkdtemp(prefix="starling-albert-"))
    try:
        commonest, points = train(options, folder)
    finally:
        if "STARLING_KEEP" not in os.environ:
            shutil.rmtree(folder, ignore_errors=True)
    print("| " + " | ".join(points[0]) + " |\n|" + "---|" * len(points[0]))
    for point in points:
        print("| " + " | ".join(str(value) for value in point.values()) + " |")
    print(f"always the commonest word: {100 * commonest:.1f} %")
    if options.json:
        options.json.write_text(json.dumps({"commonest": commonest, "points": points}, indent=1) + "\n")
    if options.figure:
        draw(points, commonest, options)


if __name__ == "__main__":
    try:
        main()
    except (programs.ProgramError, KeyboardInterrupt) as problem:
        sys.exit(f"\n{problem or 'stopped'}")
