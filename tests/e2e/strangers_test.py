#!/usr/bin/env python3
"""A computer of another project, with a valid certificate of that one, is admitted nowhere and disturbs nobody."""

import json
import socket
import ssl

import programs
import suite
from swarm_case import SwarmCase

REFUSAL = "the certificate is not of this project"


class HostOfAnotherProject(SwarmCase):
    @classmethod
    def prepare(cls):
        other = programs.Coordinator(cls.folder / "other", cls.swarm.logs / "other.log")
        cls.addClassCleanup(other.server.stop)
        link = other.init("Other project")
        other.serve()
        cls.mallory = programs.Volunteer("mallory", cls.folder / "mallory", cls.swarm.logs / "mallory.log")
        cls.addClassCleanup(cls.mallory.daemon.stop)
        cls.mallory.start()
        cls.mallory.join(link)
        cls.mallory.daemon.stop()
        other.server.stop()

    def test_1_the_coordinator_refuses_it(self):
        self.wait_for_rounds(self.swarm.volunteers, 2)
        path = self.mallory.folder / "project.json"
        theirs = json.loads(path.read_text())
        ours = json.loads((self.swarm.volunteers[0].folder / "project.json").read_text())
        del ours["device_token"]
        # All public data of this project, with a certificate of the other one.
        path.write_text(json.dumps({**ours, "certificate_pem": theirs["certificate_pem"]}))
        self.mallory.start()
        self.wait_for_log(self.mallory.daemon, "refused our certificate")
        self.assertIn("refused our certificate", programs.wait_until(self.mallory.status, "it has a status")["reason"])
        self.assertIn("127.0.0.1", self.wait_for_log(self.swarm.coordinator.server, REFUSAL))
        self.mallory.daemon.stop()

    def test_2_a_volunteer_refuses_it(self):
        victim = self.swarm.volunteers[0]
        identity = self.folder / "identity.pem"
        certificate = json.loads((self.mallory.folder / "project.json").read_text())["certificate_pem"]
        identity.write_text((self.mallory.folder / "host.key").read_text() + certificate)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.load_cert_chain(identity)
        address = ("127.0.0.1", victim.status()["listen_port"])
        with socket.create_connection(address, timeout=10) as plain, context.wrap_socket(plain) as link:
            with self.assertRaisesRegex(ssl.SSLError, "unknown.ca"):
                link.recv(1)
        self.assertIn("127.0.0.1", self.wait_for_log(victim.daemon, REFUSAL))

    def test_3_the_swarm_goes_on(self):
        self.wait_for_rounds(self.swarm.volunteers, 2)
        members = {status["peer"] for status in self.swarm.statuses().values()}
        for volunteer in self.swarm.volunteers:
            for entry in volunteer.journal().values():
                self.assertLessEqual(set(entry["contributions"]), members)
        self.assert_all_sides_agree(3)


if __name__ == "__main__":
    suite.main()
