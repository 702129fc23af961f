#!/usr/bin/env python3
"""Pictures of every screen of the window, light and dark, in both languages, with a small swarm's real data."""

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path

import programs
from swarm import Swarm
from swarm_case import SETTINGS, small_corpus

ROUNDS = 12


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=programs.ROOT / "build/screenshots")
    out = parser.parse_args().out
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    folder = Path(tempfile.mkdtemp(prefix="starling-screens-"))
    swarm = Swarm(folder, 3)
    newcomer = programs.Volunteer("newcomer", folder / "newcomer", folder / "logs" / "newcomer.log")
    try:
        swarm.create("Birdsong", {**SETTINGS, "title": "A model of birdsong"}, small_corpus())
        newcomer.start()
        first = swarm.volunteers[0]
        programs.wait_until(lambda: len(first.journal()) >= ROUNDS, f"{ROUNDS} rounds", 120)
        link = swarm.coordinator.new_invite()
        subprocess.run([programs.BIN.parent / "tests/gui_screenshots", first.folder, newcomer.folder, link, out],
                       check=True, timeout=600)
    finally:
        newcomer.daemon.stop()
        swarm.stop()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(list(out.glob('*.png')))} pictures in {out}")


if __name__ == "__main__":
    main()
