"""The product's programs as the end-to-end tests and the demo see them: processes, command lines and files."""

import contextlib
import ctypes
import fcntl
import json
import os
import random
import signal
import socket
import sqlite3
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("STARLING_BIN", ROOT / "build/release/bin"))
# The one bar of all waits for an event: a computer of two cores that has other work to do meets it.
EVENT_WITHIN_S = 240
STOP_TIMEOUT_S = 20  # then by force
# Promises to a computer's owner are held to 5 s by bars.py, which has the computer to itself; tests allow for other work.
FREE_WITHIN_S = 20
POLL_S = 0.05
PR_SET_PDEATHSIG = 1


# Begins a command that gets mounts of its own: that takes root or user namespaces.
UNSHARE = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]


class ProgramError(Exception):
    """A program refused, or did not report in time."""


def wait_until(condition, what, timeout_s=EVENT_WITHIN_S):
    """The first true value of condition(), which is repeated until the time is up."""
    deadline = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise ProgramError(f"{what}: not within {timeout_s} s")
        time.sleep(POLL_S)


def loopback():
    """This machine's own address, an IPv6 one if it has one."""
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
            return "::1"
    except OSError:
        return "127.0.0.1"


def host_and_port(host, port):
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


# Below the range from which the kernel takes ports for connections and for whoever asks for any port.
PORTS = range(12000, 32001)
PORT_LOCKS = open(f"/tmp/starling-test-ports.{os.getuid()}", "a+b")
own_ports = set()


def free_port(host="127.0.0.1"):
    """A port that is free, and that no other test is given before this process ends: each is a byte of a file that all
    tests lock (tests/support/free_port.cpp, too)."""
    for _ in range(1000):
        port = random.SystemRandom().choice(PORTS)
        if port in own_ports:  # a process's own locks do not keep it away
            continue
        try:
            fcntl.lockf(PORT_LOCKS, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
            own_ports.add(port)
            with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
                probe.bind((host, port))
            return port
        except OSError:  # another test's, or somebody else listens there
            continue
    raise ProgramError("no port is free: thousands of tests run at once")


def run_command(program, *arguments, timeout_s=EVENT_WITHIN_S, check=True):
    """Runs one short command of the product to its end. With check, a failure is raised with its output."""
    command = [str(BIN / program), *map(str, arguments)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=timeout_s,
                              check=False, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        raise ProgramError(f"{command[0]} does not exist: run ./dev build") from None
    except subprocess.TimeoutExpired:
        raise ProgramError(f"'{' '.join(command)}' did not end within {timeout_s} s") from None
    if check and done.returncode != 0:
        raise ProgramError(f"'{' '.join(command)}' failed ({done.returncode}): {(done.stderr or done.stdout).strip()}")
    return done


def processes():
    """All living processes, as (pid, name, parent, session)."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            name, _, rest = (entry / "stat").read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue  # it has just ended
        state, parent, _, session = rest.split()[:4]
        if state not in "ZX":
            yield int(entry.name), name, int(parent), int(session)


def session_members(session):
    """The living processes of a session: a program started here leads one, and its children stay in it."""
    return [pid for pid, _, _, owner in processes() if owner == session]


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def begin_apart():
    """Runs in the child, which was made with SIGINT blocked: a signal from before it had a session was not meant for
    it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    die_with_parent()


class Program:
    """A long-running program in a session of its own, its output in a log file. It may be killed and started again."""

    def __init__(self, name, command, log_path):
        self.name = name
        self.command = [str(part) for part in command]
        self.environment = {}  # in addition to this process's own
        self.log_path = Path(log_path)
        self.process = None
        self.sessions = []

    def start(self):
        # Python runs code of its own in the child first, and a Ctrl-C during that would print a traceback.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            with open(self.log_path, "ab") as log:
                self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                env={**os.environ, **self.environment}, start_new_session=True,
                                                preexec_fn=begin_apart)
        except FileNotFoundError:
            raise ProgramError(f"{self.command[0]} does not exist: run ./dev build") from None
        else:
            self.sessions.append(self.process.pid)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        return self

    def running(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        """Sends SIGKILL to the program itself, not to its children: they have to notice by themselves."""
        self.process.kill()
        self.process.wait()

    def leftovers(self):
        """Living processes of earlier starts of this program."""
        current = self.process.pid if self.running() else None
        return [pid for session in self.sessions if session != current for pid in session_members(session)]

    def ask_to_stop(self):
        if self.running():
            self.process.terminate()

    def stop(self, timeout_s=STOP_TIMEOUT_S):
        """SIGTERM, then SIGKILL for all that remain after the time. Returns the exit status, None if it was killed."""
        if self.process is None:
            return None
        self.ask_to_stop()
        try:
            status = self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            status = None
        wait_until(self._nothing_left, f"{self.name} and its children end", STOP_TIMEOUT_S)
        return status

    def _nothing_left(self):
        members = [pid for session in self.sessions for pid in session_members(session)]
        for pid in members:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.poll()
        return not members

    def log(self):
        """Its output, over all its starts."""
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def log_tail(self, lines=15):
        return "\n".join(self.log().splitlines()[-lines:])


class Coordinator:
    """A project on disk and the server that serves it."""

    def __init__(self, folder, log_path, host="127.0.0.1"):
        self.folder = Path(folder)
        self.address = host_and_port(host, free_port(host))
        self.url = f"https://{self.address}/"
        self.create_options = []  # of run create
        self.server = Program("coordinator", [BIN / "starling-coordinator", "serve", self.folder], log_path)
        self.servers = [self.server]

    def command(self, *arguments, **options):
        return run_command("starling-coordinator", *arguments, **options)

    def init(self, name):
        """Creates the project. Returns its first join link."""
        return last_line(self.command("init", self.folder, "--name", name, "--listen", self.address).stdout)

    def new_invite(self, *options):
        return last_line(self.command("invite", "new", self.folder, *options).stdout)

    def create_run(self, manifest_path):
        return last_line(self.command("run", "create", self.folder, manifest_path, *self.create_options).stdout)

    def start_run(self, run):
        self.command("run", "start", self.folder, run)

    def pause_run(self, run):
        self.command("run", "pause", self.folder, run)

    def run_status(self, run):
        return json.loads(self.command("run", "status", self.folder, run, "--json").stdout)

    def rows(self, query, *values):
        """The database's rows, as tuples; this reading changes and locks nothing."""
        database = f"file:{self.folder / 'coordinator.db'}?mode=ro"
        with contextlib.closing(sqlite3.connect(database, uri=True, timeout=10)) as connection:
            return connection.execute(query, values).fetchall()

    def taken_back(self, run):
        """Samples of the run that were in the ledger once, and do not count any more."""
        return -self.rows("SELECT coalesce(sum(contribution.samples), 0) FROM contribution JOIN run ON run.number = contribution.run "
                          "WHERE reverses IS NOT NULL AND run.run_id = ?", run)[0][0]

    def answers(self):
        host, _, port = self.address.rpartition(":")
        try:
            with socket.create_connection((host.strip("[]"), int(port)), timeout=1):
                return True
        except OSError:
            return False

    def serve(self):
        self.server.start()

        def ready():
            if not self.server.running():
                raise ProgramError(f"the coordinator ended at once:\n{self.server.log_tail()}")
            return self.answers()

        wait_until(ready, f"the coordinator listens on {self.address}")


class Volunteer:
    """One daemon with its data directory, and the command line that talks to it."""

    # Independent of the machine's state: on battery, metered, nearly full.
    PREFERENCES = {"compute": "always", "network": "always", "disk_free_min_gb": 0}

    def __init__(self, name, folder, log_path, threads=1, host="127.0.0.1"):
        """Without `threads`, the preferences choose them."""
        self.name = name
        self.folder = Path(folder)
        command = [BIN / "starlingd", "--data-dir", self.folder, "--listen", host]
        if threads is not None:
            command += ["--threads", threads]
        self.daemon = Program(name, command, log_path)

    def start(self):
        preferences = self.folder / "preferences.json"
        if not preferences.exists():
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            preferences.write_text(json.dumps(self.PREFERENCES))
        self.daemon.start()

        def ready():
            if not self.daemon.running():
                raise ProgramError(f"{self.name}'s daemon ended at once:\n{self.daemon.log_tail()}")
            return self.status() is not None

        wait_until(ready, f"{self.name}'s daemon answers")

    def command(self, *arguments, **options):
        return run_command("starling", "--data-dir", self.folder, *arguments, **options)

    def join(self, link, **options):
        return self.command("join", link, "--name", self.name, **options)

    def status(self):
        """The result of `starling status --json`, or None while the daemon is away."""
        done = self.command("status", "--json", check=False)
        try:
            return json.loads(done.stdout) if done.returncode == 0 else None
        except json.JSONDecodeError:
            raise ProgramError(f"{self.name}: status --json is not JSON: {done.stdout[:200]!r}") from None

    def peer(self):
        """Its identity for the others; waits for a daemon that is busy."""
        return wait_until(self.status, f"{self.name}'s daemon answers")["peer"]

    def journal(self, run=None):
        """The rounds this volunteer committed, as {round: entry}; a torn last line (after a kill) does not count."""
        return read_journal(self.folder / "rounds.jsonl", run)

    def acknowledged_journal(self, run):
        """Like journal(), without rounds of which the coordinator may never learn if this volunteer does not return."""
        waiting = set()
        for line in whole_lines(self.folder / f"reports-{run}.jsonl"):
            if "report" in line:
                waiting.add(json.loads(line["report"])["round"])
            else:
                waiting = {round_ for round_ in waiting if round_ >= line["settled_below"]}
        return {round_: entry for round_, entry in self.journal(run).items() if round_ not in waiting}


def whole_lines(path):
    """The JSON objects of a file with one per line, without a torn last one."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]


def read_journal(path, run=None):
    """{round: its entry}, restricted to one run if several are in it; without rounds whose results are void."""
    rounds = {}
    for line in whole_lines(path):
        if run is not None and line["run_id"] != run:
            continue
        if "round" in line:
            rounds[line["round"]] = line
        else:
            rounds = {number: entry for number, entry in rounds.items()
                      if number < line["void_from"] or entry["run_id"] != line["run_id"]}
    return rounds


def last_line(text):
    lines = text.strip().splitlines()
    if not lines:
        raise ProgramError("the command printed nothing")
    return lines[-1].strip()
