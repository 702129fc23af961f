#!/usr/bin/env python3
"""Kills one whole volunteer, daemon and trainer, with SIGKILL at every interval and starts it again, while real
processes train a small model by several algorithms; reports for each how long the others stood still.

'round' is the time from one finished round to the next, by whichever volunteer finishes first: its median before the
first kill, and the longest afterwards. 'stall' is the difference of these two. 'idle' is the longest time in which a
living volunteer computed nothing, 'before' the longest before the first kill. 'spread' is the largest consensus
distance: the distance of a volunteer's own parameters from the round's average, over the length of these (starling
status). Exits with 1 if a stall is longer than --stall-max, if volunteers or the ledger disagree, or if the loss did
not fall."""

import argparse
import json
import os
import random
import shutil
import signal
import statistics
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import programs
import results
from swarm import Swarm
from swarm_case import LITTLE_MODEL, small_corpus
from wishes import Line

ALGORITHMS = ("dedloc", "local-sgd", "moshpit-sgd", "diloco", "streaming-diloco", "eager-diloco", "sparseloco",
              "decentralized-adam", "noloco")
MICRO_BATCH = 8
LEARNING_RATES = {"local-sgd": 0.5, "moshpit-sgd": 0.5}  # AdamW's: 3e-3
MORE = {"noloco": {"local": {"mix_every": 10}}}  # a round has some sixty steps of every volunteer
POLL_S = 0.05
WARM_WITHIN_S = 120
DOWN_S = 1  # how long a victim stays dead
QUIET_END_S = 5  # no kills in the last seconds: they show whether all is well again


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--algorithm", action="append", choices=ALGORITHMS, metavar="NAME", dest="algorithms",
                        help="which; again for another (all)")
    parser.add_argument("--minutes", type=float, default=2, metavar="M", help="of killing, for each algorithm (2)")
    parser.add_argument("--calm", type=float, default=20, metavar="S", help="seconds without it before (20)")
    parser.add_argument("--every", type=float, default=10, metavar="S", help="seconds from one kill to the next (10)")
    parser.add_argument("--volunteers", type=int, default=6, metavar="N", help="daemons (6)")
    parser.add_argument("--batch", type=int, default=3000, metavar="N", help="samples a round, of all together (3000)")
    parser.add_argument("--stall-max", type=float, default=2, metavar="S", help="the longest stall that is no failure (2)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of who is killed (1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE, too")
    return parser.parse_args(arguments)


def settings_of(name, options):
    settings = {"algorithm": name, "run_id": name, "title": name, "target_batch_size": options.batch,
                "micro_batch_size": MICRO_BATCH, "peers_max": 2 * options.volunteers, "model": LITTLE_MODEL}
    own = {"warmup_rounds": 1, "total_rounds": 1000}
    if name == "dedloc":
        return {**settings, "schedule": {**own, "learning_rate": 3e-3}}
    return {**settings, "local.schedule": {**own, "learning_rate": LEARNING_RATES.get(name, 3e-3)}, **MORE.get(name, {})}


class Journal:
    """New lines of a volunteer's journal, each read once."""

    def __init__(self, volunteer):
        self.path = volunteer.folder / "rounds.jsonl"
        self.read = 0

    def news(self):
        if not self.path.exists() or self.path.stat().st_size == self.read:
            return []
        with open(self.path, "rb") as file:
            file.seek(self.read)
            lines = file.read()
        whole = lines[:lines.rfind(b"\n") + 1]
        self.read += len(whole)
        return [entry for entry in map(json.loads, whole.splitlines()) if "round" in entry]


@dataclass
class Pulse:
    """The samples that one volunteer has computed during the life of one process."""
    line: Line
    samples: int = 0
    at: float = None  # when it had computed these; None before its first batch


class Watch:
    """Looks at all volunteers, again and again; figures cover the time since begin()."""

    def __init__(self, volunteers):
        self.journals = {volunteer.name: Journal(volunteer) for volunteer in volunteers}
        self.pulses = {}
        self.newest = -1
        self.newest_at = None
        self.contributors = {}
        self.begin()

    def begin(self):
        self.rounds_s, self.idle_s, self.spread, self.losses = [], 0.0, 0.0, []

    def look(self, living):
        now = time.monotonic()
        for volunteer in living:
            for entry in self.journals[volunteer.name].news():
                self.take_round(entry, now)
            self.take_status(volunteer, now)
        self.pulses = {name: pulse for name, pulse in self.pulses.items() if any(v.name == name for v in living)}

    def take_round(self, entry, now):
        if entry["round"] <= self.newest:
            return
        if self.newest_at is not None:
            self.rounds_s.append(now - self.newest_at)
        self.newest, self.newest_at, self.contributors = entry["round"], now, entry["contributions"]

    def take_status(self, volunteer, now):
        try:
            pulse = self.pulses.get(volunteer.name)
            if pulse is None:
                pulse = self.pulses[volunteer.name] = Pulse(Line(volunteer))
            status = pulse.line.status()
        except (OSError, ValueError):
            self.pulses.pop(volunteer.name, None)
            return
        if status["loss"] > 0:
            self.losses.append(status["loss"])
        self.spread = max(self.spread, status["local_steps"]["spread"])
        if pulse.at is not None:
            self.idle_s = max(self.idle_s, now - pulse.at)
        if status["samples_total"] > pulse.samples:
            pulse.samples, pulse.at = status["samples_total"], now

    def longest_round_s(self):
        """Includes the round under way."""
        return max([*self.rounds_s, time.monotonic() - self.newest_at])


def kill_whole(volunteer):
    """Kills the daemon and every process it has started."""
    for pid in programs.session_members(volunteer.daemon.process.pid):
        with suppress(ProcessLookupError):  # a trainer ends with its daemon
            os.kill(pid, signal.SIGKILL)
    volunteer.daemon.process.wait()


def train(name, options, folder):
    swarm = Swarm(folder, options.volunteers)
    try:
        swarm.create(name, settings_of(name, options), small_corpus())
        return measure(name, options, swarm)
    finally:
        swarm.stop()


def watch_for(watch, volunteers, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        watch.look(volunteers)
        time.sleep(POLL_S)  # the interval of looking, not a wait for anything


def churn(watch, swarm, options):
    """Returns the number of kills."""
    chance = random.Random(options.seed)
    began = time.monotonic()
    kills = max(1, int((60 * options.minutes - QUIET_END_S) / options.every))
    for number in range(kills):
        victim = chance.choice(swarm.volunteers)
        living = [volunteer for volunteer in swarm.volunteers if volunteer is not victim]
        kill_whole(victim)
        watch_for(watch, living, DOWN_S)
        victim.daemon.start()
        watch_for(watch, swarm.volunteers, began + (number + 1) * options.every - time.monotonic())
    watch_for(watch, swarm.volunteers, QUIET_END_S)
    return kills


def measure(name, options, swarm):
    watch = Watch(swarm.volunteers)

    def warm():
        watch.look(swarm.volunteers)
        return len(watch.contributors) == options.volunteers and watch.newest >= 4

    programs.wait_until(warm, f"{name}: everybody is in a round", WARM_WITHIN_S)
    watch.begin()
    watch_for(watch, swarm.volunteers, options.calm)
    usual_s, idle_before_s, losses = statistics.median(watch.rounds_s), watch.idle_s, watch.losses
    watch.begin()
    kills = churn(watch, swarm, options)
    longest_s = watch.longest_round_s()
    settled = swarm.drain()
    accepted, rounds, disagreements = results.compare_journals(swarm.journals())
    run = swarm.coordinator.run_status(name)
    return {"algorithm": name, "kills": kills, "rounds": len(watch.rounds_s), "samples": run["ledger_samples"],
            "round, s": round(usual_s, 2), "longest, s": round(longest_s, 2), "stall, s": round(longest_s - usual_s, 2),
            "idle, s": round(watch.idle_s, 2), "before, s": round(idle_before_s, 2), "spread": round(watch.spread, 4),
            "loss": round(losses[0], 3), "then": round(statistics.mean(watch.losses[-options.volunteers:]), 3),
            "ledger": "equal" if settled and accepted == run["ledger_samples"] and not disagreements else
                      f"{run['ledger_samples']} of {accepted} in {rounds} rounds, {disagreements or 'not settled'}"}


def failures(row, options):
    found = []
    if row["stall, s"] > options.stall_max:
        found.append(f"a round took {row['stall, s']} s longer than usual")
    if row["ledger"] != "equal":
        found.append(f"ledger: {row['ledger']}")
    if row["then"] >= row["loss"]:
        found.append(f"loss went from {row['loss']} to {row['then']}")
    return [f"{row['algorithm']}: {failure}" for failure in found]


def main(arguments=None):
    options = parse_arguments(arguments)
    rows = []
    for name in options.algorithms or ALGORITHMS:
        folder = Path(tempfile.mkdtemp(prefix="starling-churn-"))
        try:
            rows.append(train(name, options, folder))
            print(rows[-1], file=sys.stderr)
        finally:
            if "STARLING_KEEP" not in os.environ:
                shutil.rmtree(folder, ignore_errors=True)
    print("| " + " | ".join(rows[0]) + " |\n|" + "---|" * len(rows[0]))
    for row in rows:
        print("| " + " | ".join(str(value) for value in row.values()) + " |")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    wrong = [failure for row in rows for failure in failures(row, options)]
    for failure in wrong:
        print(f"churn: {failure}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (programs.ProgramError, KeyboardInterrupt) as problem:
        sys.exit(f"\n{problem or 'stopped'}")
