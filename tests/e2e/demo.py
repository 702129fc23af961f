#!/usr/bin/env python3
"""Trains a language model on this machine: one coordinator and several volunteers, who average peer to peer."""

import argparse
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import programs
import results
import text
from chaos import Chaos
from swarm import Swarm, threads_each
from view import View

VOLUNTEERS_MAX = 32
POLL_S = 1.0
TRAINING_STARTS_WITHIN_S = 90
PROMPT = "The "
SAMPLE_BYTES = 400
RUN_ID = "demo"
BATCH = 96  # samples in a round
SAMPLES_PER_CORE_S = 100  # for the model below
AUDIT_RATE = 0.25  # with a liar
MODELS = ("gpt", "moe")
# The mixture of experts: sixteen experts with 1.6 of its 1.8 million parameters, in eight cells.
MOE_VOLUNTEERS = 5
MOE_CELLS_EACH = 4  # a volunteer has memory for half of them
MOE_CELL_BYTES = 5.6e6  # that holding one takes: its state, and all vectors of its gradients
MOE_SAMPLES_PER_CORE_S = 40


def phase(argument):
    """A phase, its seconds and its seconds of CPU, from an argument such as build=310,590."""
    name, _, figures = argument.partition("=")
    seconds, _, cpu_s = figures.partition(",")
    return name, float(seconds), float(cpu_s)


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(prog="./dev demo", description=__doc__)
    parser.add_argument("--model", choices=MODELS, default=MODELS[0],
                        help="gpt: everybody holds the whole model; moe: a mixture of experts, of which nobody may hold more "
                             "than half (gpt)")
    parser.add_argument("--volunteers", type=int, metavar="N", help=f"daemons to start (3; moe: {MOE_VOLUNTEERS})")
    parser.add_argument("--minutes", type=float, default=5, metavar="M", help="how long to train (5)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the summary to FILE, too")
    parser.add_argument("--chaos", action="store_true",
                        help="SIGKILL a random volunteer every 20 s, and the coordinator once; all are restarted")
    parser.add_argument("--liar", action="store_true",
                        help="one more volunteer computes nothing and says that it does; the others check each other's work")
    parser.add_argument("--keep", action="store_true", help="keep the data directories and logs")
    parser.add_argument("--until-first-round", action="store_true",
                        help="end after the first round, and print how long everything until then took")
    parser.add_argument("--spent", type=phase, action="append", default=[], metavar="PHASE=SECONDS,CPU",
                        help="what was done before, and how long it took; printed with the first round's seconds")
    options = parser.parse_args(arguments)
    if options.volunteers is None:
        options.volunteers = MOE_VOLUNTEERS if options.model == "moe" else 3
    if options.model == "moe" and options.liar:
        parser.error("--liar: the work of experts is not checked; see docs/audits.md")
    if options.model == "moe" and options.volunteers < 4:
        parser.error("--volunteers: moe needs four at least, since each may hold half of the model, which is held twice")
    if not 1 <= options.volunteers <= VOLUNTEERS_MAX:
        parser.error(f"--volunteers: from 1 to {VOLUNTEERS_MAX}")
    if not 0 < options.minutes <= 24 * 60:
        parser.error("--minutes: more than 0, at most a day")
    if options.json and not options.json.resolve().parent.is_dir():
        parser.error(f"--json: there is no folder {options.json.resolve().parent}")
    return options


def run_settings(options):
    """The manifest of a model that learns something within minutes on two cores."""
    cores = min(os.cpu_count() or 1, options.volunteers * threads_each(options.volunteers))
    # The learning rate falls to its end as the time runs out, at the speed of an ordinary processor.
    speed = MOE_SAMPLES_PER_CORE_S if options.model == "moe" else SAMPLES_PER_CORE_S
    rounds = options.minutes * 60 * cores * speed / BATCH
    if options.model == "moe":
        return {
            "run_id": RUN_ID,
            "title": "Fortunes, by experts",
            "target_batch_size": BATCH,
            "micro_batch_size": 8,
            "checkpoint_rounds": 20,
            "model": {"architecture": "decoder", "layers": 2, "width": 128, "heads": 4, "context": 128, "mlp_width": 256,
                      "expert_rows": 4, "expert_columns": 2, "active_experts": 2},
            "cells": {"experts_per_cell": 2, "holders": 2},
            "schedule": {"warmup_rounds": 30, "total_rounds": max(60, int(rounds))},
        }
    return {
        "run_id": RUN_ID,
        "title": "Fortunes",
        "target_batch_size": BATCH,
        "micro_batch_size": 8,
        "model": {"layers": 4, "width": 128, "heads": 4, "context": 128},
        "schedule": {"warmup_rounds": 30, "total_rounds": max(60, int(rounds))},
        **({"audit_rate": AUDIT_RATE} if options.liar else {}),
    }


def printable(text_from_model):
    """Makes a model's text harmless: it may be anything, and must not control the terminal."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}"
                   for c in text_from_model.replace("\t", " "))


class Demo:
    def __init__(self, swarm, options, out):
        self.swarm = swarm
        self.options = options
        self.out = out
        self.seconds = options.minutes * 60
        self.chaos = Chaos(swarm, self.seconds) if options.chaos else None
        self.statuses = {}
        self.computed = Counter()  # samples by volunteer, over all lives of its daemon
        self.computed_before = Counter()

    def train(self):
        """Watches the swarm until the time is up or the run is complete. Returns the seconds of training."""
        view = View(self.out, f"Starling demo: {len(self.swarm.volunteers)} volunteers; leaderboard at "
                              f"{self.swarm.coordinator.url} (the browser will not know its certificate)")
        started = None
        waiting_since = time.monotonic()
        while True:
            now = time.monotonic()
            elapsed = now - started if started else 0.0
            if elapsed >= self.seconds or self.complete() or (self.options.until_first_round and self.rounds_done()):
                break
            if self.chaos:
                self.chaos.tick(elapsed)
            self.look()
            view.show(self.statuses, self.seconds - elapsed)
            if started is None and any(s and s["phase"] == "training" for s in self.statuses.values()):
                started = time.monotonic()
            if started is None and now - waiting_since > TRAINING_STARTS_WITHIN_S:
                raise programs.ProgramError(f"nobody was training after {TRAINING_STARTS_WITHIN_S} s")
            time.sleep(max(0.0, POLL_S - (time.monotonic() - now)))
        return time.monotonic() - (started or time.monotonic())

    def look(self):
        self.statuses = self.swarm.statuses()
        for name, status in self.statuses.items():
            if status is None:
                continue
            # A daemon counts from its start; a smaller number than before is a new life.
            total = status["samples_total"]
            self.computed[name] += total - (self.computed_before[name] if total >= self.computed_before[name] else 0)
            self.computed_before[name] = total
        for program in [] if self.chaos else self.swarm.died():
            raise programs.ProgramError(f"{program.name} ended by itself:\n{program.log_tail()}")

    def rounds_done(self):
        return max((s["rounds_done"] for s in self.statuses.values() if s), default=0)

    def complete(self):
        alive = [s for s in self.statuses.values() if s]
        return bool(alive) and all(s["run_state"] == "complete" for s in alive)

    def finish(self, seconds):
        """Drains the swarm and collects the figures."""
        if self.chaos:
            self.chaos.finish()
        sample = self.sample()
        settled = self.swarm.drain([self.swarm.volunteers[-1].name] if self.options.liar else [])
        self.look()
        accepted, rounds, disagreements = results.compare_journals(self.swarm.journals())
        taken_back = self.swarm.taken_back()
        run = self.swarm.coordinator.run_status(self.swarm.run)
        validation = run["validation"] or {}
        held_out = (self.swarm.folder / "run/held_out.txt").read_bytes()
        for disagreement in disagreements[:5]:
            print(disagreement, file=self.out)
        return sample, {
            "volunteers": len(self.swarm.volunteers),
            "rounds": rounds,
            # The work of a killed volunteer after its last status is known only as far as it was accepted.
            "samples_total": max(sum(self.computed.values()), accepted - taken_back),
            "samples_accepted": accepted - taken_back,
            "samples_taken_back": taken_back,
            "liar": self.found() if self.options.liar else None,
            "ledger_samples": run["ledger_samples"],
            "credit_by_volunteer": run["credit_by_volunteer"],
            "validation_bits_per_byte": {
                "first": validation.get("first_bits_per_byte"),
                "last": validation.get("bits_per_byte"),
                "gzip": text.compressed_bits_per_byte("gzip", held_out),
                "xz": text.compressed_bits_per_byte("xz", held_out),
            },
            "rounds_failed": sum(s.get("rounds_failed") or 0 for s in self.statuses.values() if s),
            "replicas_identical": settled and not disagreements,
            "seconds": round(seconds, 1),
            "kills": self.chaos.counts if self.chaos else {"volunteer": 0, "coordinator": 0},
        }

    def found(self):
        """The checks of the liar's work, and what it is told."""
        status = self.swarm.volunteers[-1].status() or {}
        checked = status.get("checked") or {}
        return {"name": self.swarm.volunteers[-1].name, "found": checked.get("missed", 0), "told": " ".join(status.get("problems", []))}

    def sample(self):
        done = self.swarm.volunteers[0].command("sample", "--prompt", PROMPT, "--length", SAMPLE_BYTES, check=False)
        return PROMPT + done.stdout if done.returncode == 0 else f"(no sample: {done.stderr.strip()})"


def print_summary(result, sample, out):
    validation = result["validation_bits_per_byte"]
    figure = {name: "-" if value is None else f"{value:.3f}" for name, value in validation.items()}
    print(f"\nHeld-out text: {figure['first']} bits per byte at first, {figure['last']} at last "
          f"(gzip -9: {figure['gzip']}, xz -9: {figure['xz']})", file=out)
    print(f"{result['rounds']} rounds and {result['samples_accepted']} accepted samples in {result['seconds']} s; "
          f"{result['ledger_samples']} samples in the ledger; {result['rounds_failed']} failed rounds", file=out)
    print(f"Volunteers agree to the bit: {'yes' if result['replicas_identical'] else 'NO'}", file=out)
    if result.get("liar"):
        liar = result["liar"]
        print(f"{liar['name']} has computed nothing: found {liar['found']} times, {result['samples_taken_back']} of its samples "
              f"taken back. It is told: {liar['told'] or '-'}", file=out)
    if any(result["kills"].values()):
        print(f"Killed: {result['kills']['volunteer']} volunteers, {result['kills']['coordinator']} coordinator", file=out)
    for name, credit in sorted(result["credit_by_volunteer"].items(), key=lambda item: -item[1]):
        print(f"  {name:<14} {credit:12.3f} credit", file=out)
    print("The model says:", file=out)
    for line in printable(sample).rstrip().splitlines():
        print(f"  | {line}", file=out)


def timetable(phases):
    """Lines with the seconds of each phase, and of those from configuring on."""
    since_configure = [line for line in phases if line[0] != "packages"]
    total = ("configure to first round", sum(line[1] for line in since_configure), sum(line[2] for line in since_configure))
    return [f"{'':<26}{'seconds':>9}{'CPU seconds':>14}"] + [
        f"{name:<26}{seconds:>9.0f}{cpu_s:>14.0f}" for name, seconds, cpu_s in [*phases, total]]


def cpu_seconds():
    """CPU time of this process and of its children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def run_demo(options, folder, out):
    if options.spent:
        print("ready to train: " + ", ".join(f"{name} {seconds:.0f} s" for name, seconds, _ in options.spent), file=out)
    begun, cpu_before = time.monotonic(), cpu_seconds()
    swarm = Swarm(folder, options.volunteers + options.liar)
    if options.model == "moe":
        for volunteer in swarm.volunteers:
            volunteer.PREFERENCES = {**volunteer.PREFERENCES, "cells_max_gb": MOE_CELLS_EACH * MOE_CELL_BYTES / 1e9}
    if options.liar:
        swarm.give_false_trainer(swarm.volunteers[-1], "zeros")
    try:
        swarm.create("Starling demo", run_settings(options))
        demo = Demo(swarm, options, out)
        trained_s = demo.train()
        first_round_s = time.monotonic() - begun
        if not options.until_first_round:
            sample, result = demo.finish(trained_s)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not leave half of them running
        swarm.stop()
    if options.until_first_round:
        if not demo.rounds_done():
            raise programs.ProgramError(f"no round within {trained_s:.0f} s of training")
        print("\n".join(timetable([*options.spent, ("first round", first_round_s, cpu_seconds() - cpu_before)])), file=out)
        return 0
    print_summary(result, sample, out)
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n")
    wrong = results.failures(result)
    for failure in wrong:
        print(f"demo: {failure}", file=sys.stderr)
    return 1 if wrong else 0


def interrupt(_signal, _frame):
    raise KeyboardInterrupt


def main():
    options = parse_arguments(sys.argv[1:])
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    folder = Path(tempfile.mkdtemp(prefix="starling-demo-"))
    status = 1
    try:
        status = run_demo(options, folder, sys.stdout)
    except KeyboardInterrupt:
        print("\ninterrupted: every process of the demo has ended", file=sys.stderr)
        status = 130
    except (programs.ProgramError, text.TextMissing) as error:
        print(f"demo: {error}", file=sys.stderr)
    finally:
        if options.keep or status == 1:
            print(f"data and logs: {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
