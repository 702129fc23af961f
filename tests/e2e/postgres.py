"""A PostgreSQL server for one test: a new cluster in a folder of its own, which is removed with it."""

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

import programs

USER = "postgres"  # the system's, if root starts it, since the server refuses root; also the superuser of the cluster


def installed():
    """The folders with the server's programs, the newest version last: Debian keeps each version's in one of its own."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return [path.parent for path in found]


def missing():
    """The reason why a server is not possible here; empty if it is."""
    return "" if installed() else "no PostgreSQL server is installed"


class Postgres:
    def __init__(self):
        self.bin = installed()[-1]
        self.folder = Path(tempfile.mkdtemp(prefix="starling-pg-"))
        self.data = self.folder / "data"
        self.who = {}
        if os.geteuid() == 0:
            user = pwd.getpwnam(USER)
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self.who = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        self.process = None
        self.log = open(self.folder / "log", "ab")

    def start(self):
        self.run("initdb", "--pgdata", self.data, "--username", USER, "--auth", "trust", "--encoding", "UTF8", "--locale",
                 "C.UTF-8", "--no-sync")
        self.process = subprocess.Popen([self.bin / "postgres", "-D", self.data, "-k", self.folder, "-c",
                                         "listen_addresses="], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                        preexec_fn=programs.die_with_parent, cwd=self.folder, **self.who)
        state = self.data / "postmaster.pid"
        programs.wait_until(lambda: state.exists() and "ready" in state.read_text(), "PostgreSQL is ready", 60)
        return self

    def stop(self):
        if self.process is not None:
            self.process.terminate()
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, program, *arguments):
        done = subprocess.run([self.bin / program, *map(str, arguments)], capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, cwd=self.folder, **self.who)
        if done.returncode != 0:
            raise programs.ProgramError(f"{program}: {done.stderr.strip()}")
        return done.stdout

    def create_database(self, name):
        """Creates a database; returns its address."""
        self.run("createdb", "-h", self.folder, "-U", USER, name)
        return f"postgresql://{USER}@/{name}?host={self.folder}"

    def rows(self, database, sql):
        """The rows of a SELECT, as lists of texts."""
        out = self.run("psql", "-h", self.folder, "-U", USER, "-d", database, "-At", "-F", "\t", "-c", sql)
        return [line.split("\t") for line in out.splitlines()]
