"""One project and its volunteers on this machine, from init to the last drained report."""

import json
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import programs
import results
import text

SETTLE_TIMEOUT_S = 90  # the coordinator may wait a minute for members that still average
STEADY_S = 1  # a round that was under way when the run was paused may be reported a moment later
BUSY = ("preparing", "joining", "downloading", "training", "averaging", "stepping", "evaluating")


def threads_each(volunteers):
    """Cores for each volunteer's trainer, so that all of them together fill this machine and no more."""
    return max(1, (os.cpu_count() or 1) // max(1, volunteers))


def write_run(folder, corpus, settings):
    """Writes the operator's files of one run: texts, unless the settings name other data, and manifest.toml. "sampling"
    among the settings is that of the texts. Returns the manifest's path."""
    folder.mkdir(parents=True, exist_ok=True)
    sections = settings
    if "data" not in settings:
        (folder / "train.txt").write_bytes(corpus.train)
        (folder / "held_out.txt").write_bytes(corpus.held_out)
        data = {"train": "train.txt", "validation": "held_out.txt"}
        sections = {name: value for name, value in settings.items() if name != "sampling"}
        sections["data"] = {**data, "sampling": settings["sampling"]} if "sampling" in settings else data
    plain = {key: value for key, value in sections.items() if not isinstance(value, dict)}
    lines = [f"{key} = {toml(value)}" for key, value in plain.items()]
    for name, fields in sections.items():
        if isinstance(fields, dict):
            lines += ["", f"[{name}]"] + [f"{key} = {toml(value)}" for key, value in fields.items()]
    path = folder / "manifest.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def toml(value):
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value) if isinstance(value, (str, bool)) else repr(value)


class Swarm:
    """Start it with create(), look at it with statuses(), end it with drain() and stop()."""

    def __init__(self, folder, volunteers, host="127.0.0.1", threads=None):
        """Each volunteer computes with that many threads; all together, if it is not said, with this machine's."""
        self.folder = Path(folder)
        self.host = host  # this machine's address, on which everybody listens
        self.logs = self.folder / "logs"
        self.logs.mkdir(parents=True, exist_ok=True)
        self.coordinator = programs.Coordinator(self.folder / "coordinator", self.logs / "coordinator.log", host)
        self.threads = threads or threads_each(volunteers)
        self.made = 0
        self.volunteers = [self.newcomer() for _ in range(volunteers)]
        self.departed = {}  # {volunteer that does not come back: its peer}
        self.pollers = ThreadPoolExecutor(max_workers=8)
        self.run = None
        self.is_checked = False  # whether work is, so that credit may be taken back

    def newcomer(self):
        """Adds a new volunteer that is unknown so far."""
        self.made += 1
        name = f"volunteer-{self.made}"
        return programs.Volunteer(name, self.folder / name, self.logs / f"{name}.log", self.threads, self.host)

    def create(self, name, settings, corpus=None):
        """Creates the project, its run and the volunteers' data directories, and starts everything."""
        manifest = write_run(self.folder / "run", corpus or text.load_corpus(), settings)
        self.coordinator.init(name)
        self.run = settings["run_id"]
        self.is_checked = settings.get("audit_rate", 0) > 0
        self.coordinator.create_run(manifest)
        self.coordinator.start_run(self.run)
        link = self.coordinator.new_invite("--uses", max(1, len(self.volunteers)))
        self.coordinator.serve()
        for volunteer in self.volunteers:
            volunteer.start()
            volunteer.join(link)

    def give_false_trainer(self, volunteer, way):
        """The volunteer's daemon is the product's, beside a trainer that lies in this way (false_trainer)."""
        trainer = os.environ.get("STARLING_FALSE_TRAINER", programs.BIN.parent / "tests/false_trainer")
        folder = self.folder / way
        folder.mkdir()
        shutil.copy(trainer, folder / "starling-trainer")
        volunteer.daemon.command[0] = shutil.copy(programs.BIN / "starlingd", folder)

    def taken_back(self):
        """Samples that were in the ledger once, and do not count any more."""
        return self.coordinator.taken_back(self.run) if self.is_checked else 0

    def lose(self, volunteer):
        """Kills the volunteer for good."""
        peer = volunteer.peer()
        volunteer.daemon.kill()
        self.volunteers.remove(volunteer)
        self.departed[volunteer] = peer

    def programs(self):
        return self.coordinator.servers + [volunteer.daemon for volunteer in self.volunteers]

    def statuses(self):
        """{volunteer's name: its status}; None for a daemon that is away."""
        answers = self.pollers.map(lambda volunteer: volunteer.status(), self.volunteers)
        return {volunteer.name: status for volunteer, status in zip(self.volunteers, answers)}

    def journals(self):
        """Journals by name. For departed volunteers, the rounds that the coordinator knows: others may not have been in
        their last round."""
        statuses, here = self.statuses(), {}
        for volunteer in self.volunteers:
            status, journal = statuses.get(volunteer.name), volunteer.journal(self.run)
            if status and status["run_id"] == self.run:  # a round that was committed and then withdrawn is not below its state
                journal = {number: entry for number, entry in journal.items() if number < status["state_round"]}
            here[volunteer.name] = journal
        return here | {volunteer.name: self.heard_of(volunteer, peer) for volunteer, peer in self.departed.items()}

    def heard_of(self, volunteer, peer):
        """Its rounds that the coordinator acknowledged, or that the ledger has although it was not acknowledged."""
        told = volunteer.acknowledged_journal(self.run)
        known = self.coordinator.rows(
            "SELECT line.round FROM contribution AS line JOIN host ON host.id = line.host JOIN run ON run.number = line.run "
            "WHERE run.run_id = ? AND host.peer_id = ?", self.run, bytes.fromhex(peer))
        return {number: entry for number, entry in volunteer.journal(self.run).items() if number in told or (number,) in known}

    def died(self):
        """Programs that ended unexpectedly."""
        return [program for program in self.programs() if program.process is not None and not program.running()]

    def drain(self, besides=()):
        """Pauses the run and waits until all volunteers hold one state and the ledger holds all accepted samples. Volunteers of
        these names need not hold it: they may be out of the run."""
        self.coordinator.pause_run(self.run)

        def unsettled():
            statuses = self.statuses()
            for name, status in statuses.items():
                if status is None or status["phase"] in BUSY or status["reports_waiting"]:
                    return f"{name}: " + (f"{status['phase']}, {status['reports_waiting']} reports wait" if status else "away")
            if not results.same_state([status for name, status in statuses.items() if name not in besides]):
                return "not all hold the same state"
            accepted = results.compare_journals(self.journals())[0] - self.taken_back()
            ledger = self.coordinator.run_status(self.run)["ledger_samples"]
            return "" if accepted == ledger else f"{accepted} samples accepted, {ledger} in the ledger"

        since, why = None, ""

        def stays_settled():
            nonlocal since, why
            now_why = unsettled()
            since = None if now_why else since or time.monotonic()
            why = now_why or why
            return since is not None and time.monotonic() - since >= STEADY_S

        try:
            programs.wait_until(stays_settled, "the swarm settles", SETTLE_TIMEOUT_S)
            return True
        except programs.ProgramError:
            print(f"the swarm did not settle within {SETTLE_TIMEOUT_S} s: {why}")
            return False

    def stop(self):
        """Ends every process; harmless for one that was not started, or has ended."""
        self.pollers.shutdown(wait=True, cancel_futures=True)
        everything = self.programs() + [volunteer.daemon for volunteer in self.departed]
        for program in everything:
            program.ask_to_stop()
        for program in everything:
            program.stop()
