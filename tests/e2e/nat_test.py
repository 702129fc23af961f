#!/usr/bin/env python3
"""Volunteers that nobody can dial: each behind a router that masquerades, with nothing between them but a relay."""

import json
import subprocess
import unittest

import homes
import programs
import suite
from swarm_case import SwarmCase

COORDINATOR_PORT = 8443
RELAY_PORT = 8444
ROUNDS = 5


class NatCoordinator(programs.Coordinator):
    """A coordinator in the internet's namespace, with a relay."""

    def __init__(self, folder, log_path, core):
        super().__init__(folder, log_path)
        self.core = core
        self.address = f"{homes.INTERNET_ADDRESS}:{COORDINATOR_PORT}"
        self.server.command = core.inside(*self.server.command, "--dial-back", "--relay",
                                          f"{homes.INTERNET_ADDRESS}:{RELAY_PORT}")

    def answers(self):
        host, _, port = self.address.rpartition(":")
        probe = self.core.inside("bash", "-c", f"exec 3<>/dev/tcp/{host}/{port}")
        return subprocess.run(probe, capture_output=True, check=False).returncode == 0

    def page(self, path):
        fetch = ("import ssl, sys, urllib.request as r; "
                 "print(r.urlopen(sys.argv[1], context=ssl._create_unverified_context()).read().decode())")
        done = subprocess.run(self.core.inside("python3", "-c", fetch, f"https://{self.address}{path}"),
                              capture_output=True, text=True, check=True)
        return done.stdout


class Homes(SwarmCase):
    """Gives each volunteer a home of its own."""

    @classmethod
    def prepare(cls):
        cls.internet = homes.Internet(cls.swarm.logs / "namespaces.log", cls.VOLUNTEERS)
        cls.addClassCleanup(cls.internet.stop)
        cls.swarm.coordinator = NatCoordinator(cls.folder / "coordinator", cls.swarm.logs / "coordinator.log",
                                               cls.internet.core)
        for volunteer, home in zip(cls.swarm.volunteers, cls.internet.homes):
            command = [part if part != "127.0.0.1" else "0.0.0.0" for part in volunteer.daemon.command]
            volunteer.daemon.command = home.inside(*command)


@unittest.skipIf(homes.missing(), homes.missing())
class Nat(Homes):
    def test_1_rounds_complete_over_the_relay(self):
        self.wait_for_rounds(self.swarm.volunteers, ROUNDS)
        for status in self.swarm.statuses().values():
            self.assertEqual(status["reach"]["reachability"], "blocked")
            self.assertNotEqual(int(status["reach"]["relay"], 16), 0)
            self.assertEqual(status["reach"]["links_relayed"], len(self.swarm.volunteers) - 1)
            self.assertLess(status["rounds_failed"], status["rounds_done"])  # a computer that stands still fails one
        words = self.swarm.volunteers[0].command("status").stdout
        self.assertIn("over relay", words)
        self.assertIn("forward TCP port", words)
        run = json.loads(self.swarm.coordinator.page("/status.json"))["run"]
        self.assertEqual((run["direct"], run["relayed"]), (0, len(self.swarm.volunteers)))
        # The relayed bytes are shown, and consist of averaging with little beside it.
        sent = sum(status["network"]["bytes_sent"] for status in self.swarm.statuses().values())
        passed = json.loads(self.swarm.coordinator.page("/status.json"))["run"]["relay_bytes"]
        print(f"relay: {passed} bytes passed on, members sent {sent}, round {run['round']}")
        self.assertGreater(passed, 0.8 * sent)
        self.assertLess(passed, 1.5 * sent)

    def test_2_when_the_relay_is_back_after_a_kill_rounds_go_on(self):
        def relayed():
            return [bool(int(status["reach"]["relay"], 16)) for status in self.swarm.statuses().values()]

        self.assertTrue(all(relayed()))
        self.swarm.coordinator.server.kill()  # its relay ends with it, in the middle of its traffic
        programs.wait_until(lambda: not any(relayed()), "all see that nobody can call them any more")
        self.swarm.coordinator.serve()
        self.wait_for_rounds(self.swarm.volunteers, 3)
        programs.wait_until(lambda: all(relayed()), "all can be called again")
        self.assert_all_sides_agree(ROUNDS + 1)


@unittest.skipIf(homes.missing_for_opening(), homes.missing_for_opening())
class RouterThatOpensPorts(Homes):
    VOLUNTEERS = 1
    NAT_PMP = True

    @classmethod
    def prepare(cls):
        super().prepare()
        folder = cls.folder / "router"
        folder.mkdir()
        cls.router = homes.OpeningRouter(cls.internet.routers[0], folder, cls.swarm.logs / "miniupnpd.log", cls.NAT_PMP)
        cls.addClassCleanup(cls.router.stop)

    def test_a_port_is_opened_while_the_volunteer_takes_part(self):
        volunteer = self.swarm.volunteers[0]

        def reached():
            status = volunteer.status()
            return status["reach"]["reachability"] == "reachable" and status["reach"]

        reach = programs.wait_until(reached, "others can dial the volunteer")
        self.assertEqual(reach["mapped_by"], "NAT-PMP" if self.NAT_PMP else "UPnP")
        self.assertEqual(len(self.router.opened()), 1, self.router.opened())
        self.assertIn("opened by", volunteer.command("status").stdout)
        if self.NAT_PMP:
            volunteer.command("prefs", "set", "port_mapping", "no")
            programs.wait_until(lambda: not self.router.opened(), "the port is closed when its owner says so")
        volunteer.daemon.stop()
        self.assertEqual(self.router.opened(), [])


class RouterThatOpensPortsByUpnp(RouterThatOpensPorts):
    NAT_PMP = False


if __name__ == "__main__":
    suite.main()
