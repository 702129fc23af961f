#!/usr/bin/env python3
"""Three coordinators share one PostgreSQL database behind a load balancer, and are killed one after another, the leader
too. Rounds continue, and the ledger holds every contribution once. Then the run goes back to an earlier state.

    three_coordinators_test.py [--every S] [--minutes M]    longer: one is killed every S seconds, for M minutes
"""

import argparse
import json
import time
import unittest
from pathlib import Path

import programs
import suite
from balancer import Balancer
from postgres import Postgres, missing
from swarm_case import RUN_ID, SwarmCase

COORDINATORS = 3
TAKEOVER_MAX_S = 30  # usually below 5
DATABASE = "swarm"
LEADS = "this coordinator leads now"
LEADS_NO_MORE = "this coordinator does not lead any more"

options = argparse.Namespace(every=0, minutes=0)


class Fleet(programs.Coordinator):
    """One project, several servers."""

    def __init__(self, folder, logs, database):
        super().__init__(folder, logs / "coordinator.log")
        self.database = database
        self.ports = [programs.free_port() for _ in range(COORDINATORS)]
        self.servers = [
            programs.Program(f"coordinator-{port}", [programs.BIN / "starling-coordinator", "serve", self.folder, "--listen",
                                                     f"127.0.0.1:{port}"], logs / f"coordinator-{port}.log")
            for port in self.ports]
        self.server = self.servers[0]
        _, _, port = self.address.rpartition(":")
        self.balancer = Balancer(int(port), self.ports)

    def init(self, name):
        done = self.command("init", self.folder, "--name", name, "--listen", f"127.0.0.1:{self.ports[0]}", "--public",
                            self.address, "--database", self.database)
        return programs.last_line(done.stdout)

    def serve(self):
        for server in self.servers:
            server.start()
        for server in self.servers:
            programs.wait_until(lambda: "listening on" in server.log(), f"{server.name} listens")

    def leader(self):
        """The leading server, according to the others."""
        address = json.loads(self.command("status", self.folder, "--json").stdout)["leader"]
        return self.servers[self.ports.index(int(address.rpartition(":")[2]))]


@unittest.skipIf(missing(), missing())
class ThreeCoordinators(SwarmCase):
    SETTINGS = {"target_batch_size": 512, "peers_max": 64, "checkpoint_rounds": 3}

    @classmethod
    def prepare(cls):
        cls.postgres = Postgres()
        cls.addClassCleanup(cls.postgres.stop)
        cls.postgres.start()
        cls.fleet = Fleet(cls.swarm.folder / "coordinator", cls.swarm.logs, cls.postgres.create_database(DATABASE))
        cls.addClassCleanup(cls.fleet.balancer.stop)
        cls.swarm.coordinator = cls.fleet

    def takeovers(self):
        return sum(server.log().count(LEADS) for server in self.fleet.servers)

    def resignations(self):
        return sum(server.log().count(LEADS_NO_MORE) for server in self.fleet.servers)

    def kill(self, victim):
        """Kills a server and checks the state soon afterwards; returns the seconds until another led, if it was the
        leader."""
        leader = self.fleet.leader()
        before = self.takeovers()
        victim.kill()
        killed = time.monotonic()
        took = None
        if victim is leader:
            programs.wait_until(lambda: self.takeovers() > before, "another coordinator leads", TAKEOVER_MAX_S)
            took = time.monotonic() - killed
        self.wait_for_rounds(self.swarm.volunteers, 2)
        victim.start()
        programs.wait_until(lambda: self.fleet_listens(victim), f"{victim.name} is back")
        return took

    def fleet_listens(self, server):
        return server.running() and server.log().count("listening on") == len(server.sessions)

    def test_1_all_three_answer_heartbeats_and_one_leads(self):
        self.wait_for_rounds(self.swarm.volunteers, 2)
        # A server that stood still for some seconds has rightly lost its place.
        programs.wait_until(lambda: self.takeovers() - self.resignations() == 1, "one leads")

    def test_2_rounds_go_on_whichever_is_killed(self):
        followers = [server for server in self.fleet.servers if server is not self.fleet.leader()]
        for victim in (self.fleet.leader(), followers[0], None):
            took = self.kill(victim or self.fleet.leader())
            if took is not None:
                print(f"another coordinator led after {took:.2f} s")

    def test_3_for_as_long_as_asked(self):
        ends = time.monotonic() + 60 * options.minutes
        turn = 0
        slowest = 0
        while time.monotonic() < ends:
            next_kill = time.monotonic() + options.every
            leader = self.fleet.leader()
            victim = leader if turn % 2 == 0 else self.fleet.servers[turn % COORDINATORS]
            slowest = max(slowest, self.kill(victim) or 0)
            turn += 1
            time.sleep(max(0, next_kill - time.monotonic()))
        if turn:
            print(f"{turn} coordinators were killed; another led within {slowest:.2f} s")

    def test_4_the_ledger_holds_every_contribution_once(self):
        self.assert_all_sides_agree(5)
        told = {}
        for journal in self.swarm.journals().values():
            for entry in journal.values():
                for peer, samples in entry["contributions"].items():
                    told[(entry["round"], peer)] = samples
        rows = self.postgres.rows(DATABASE, "SELECT round, encode(peer_id, 'hex'), samples FROM contribution "
                                  "JOIN host ON host.id = contribution.host")
        ledger = {(int(number), peer): int(samples) for number, peer, samples in rows}
        self.assertEqual(len(ledger), len(rows), "nobody is credited twice for a round")
        self.assertEqual(ledger, told)
        self.fleet.command("credit", "check", self.fleet.folder)
        self.fleet.command("doctor", self.fleet.folder)
        self.assertEqual(self.fleet.run_status(RUN_ID)["run_id"], RUN_ID)

    def number(self, query):
        """The one number that the query finds; None if it finds none."""
        rows = self.postgres.rows(DATABASE, query)
        return int(rows[0][0]) if rows and rows[0][0] else None

    def test_5_a_run_that_three_serve_goes_back_and_its_credit_is_reversed(self):
        self.fleet.start_run(RUN_ID)
        self.wait_for_rounds(self.swarm.volunteers, 1)
        # The newest one that rounds have followed: an older one may go when the next one comes.
        last_copy = "SELECT max(round) FROM checkpoint WHERE round <= (SELECT max(round) FROM round)"
        to = programs.wait_until(lambda: self.number(last_copy), "a copy of the state")
        self.fleet.command("run", "rollback", self.fleet.folder, RUN_ID, "--to", to, "--credit", "reverse", "--yes")
        at = self.number("SELECT round FROM rollback")
        self.assertGreater(at, to)
        given_up = f"FROM contribution WHERE round BETWEEN {to} AND {at}"
        self.assertEqual(self.number(f"SELECT coalesce(sum(samples), 0) {given_up}"), 0)
        self.assertGreater(self.number(f"SELECT count(*) {given_up} AND reverses IS NOT NULL"), 0)
        of_all = (f"SELECT min(round) FROM (SELECT round FROM contribution WHERE round > {at} AND reverses IS NULL "
                  f"GROUP BY round HAVING count(*) = {len(self.swarm.volunteers)}) joint")
        programs.wait_until(lambda: self.number(of_all), "a round of all after it")
        self.fleet.command("credit", "check", self.fleet.folder)
        self.assertIn("run rollback", self.fleet.command("audit", self.fleet.folder).stdout)
        self.fleet.command("audit", self.fleet.folder, "--verify")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=float, default=20)
    parser.add_argument("--minutes", type=float, default=0)
    options, rest = parser.parse_known_args()
    suite.main(rest)
