#!/usr/bin/env python3
"""Mirrors as real web servers are, all on loopback: `run create` asks each for a shard and says what came of it, and a
volunteer trains from each kind that works."""

import gzip
import http.server
import ssl
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

import programs
import suite
from swarm import write_run
from swarm_case import SETTINGS, small_corpus

VOCABULARY = 256


class Mirror(http.server.BaseHTTPRequestHandler):
    """Answers as the first part of the path says: /chunked/DIGEST."""

    protocol_version = "HTTP/1.1"
    files = None  # the folder with the shards

    def do_GET(self):
        _, kind, *rest = self.path.split("/")
        path = self.files / Path(self.path).name
        if not rest or not path.is_file():
            return self.send_error(404)
        return getattr(self, kind)(path.read_bytes(), rest)

    def log_message(self, *_):
        pass

    def whole(self, content, _=None, status=200, **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def send_on(self, where):
        self.whole(b"<html>moved</html>", status=302, Location=where)

    def ranges(self, content, _):
        start = int(self.headers.get("Range", "bytes=0-")[len("bytes="):-1])
        if not start:
            return self.whole(content)
        return self.whole(content[start:], status=206, Content_Range=f"bytes {start}-{len(content) - 1}/{len(content)}")

    def old(self, content, _):
        self.protocol_version = "HTTP/1.0"
        self.whole(content)

    def old_without_length(self, content, _):
        self.protocol_version = "HTTP/1.0"
        self.send_response(200)
        self.end_headers()
        self.wfile.write(content)
        self.close_connection = True

    def chunked(self, content, _):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in (content[:1000], content[1000:]):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")

    def gzipped(self, content, _):
        self.whole(gzip.compress(content), Content_Encoding="gzip")

    def redirect(self, _, rest):
        self.send_on("/whole/" + rest[-1])

    def redirect_elsewhere(self, _, rest):
        self.send_on(f"https://127.0.0.1:{self.server.server_address[1]}/chunked/{rest[-1]}")

    def redirect_endless(self, _, rest):
        self.send_on(f"/redirect_endless/x{rest[0]}/{rest[-1]}"[:500])

    def redirect_plain(self, _, rest):
        self.send_on("http://localhost/whole/" + rest[-1])

    def too_long(self, content, _):
        self.whole(content + b"x")

    def other_bytes(self, content, _):
        self.whole(bytes(len(content)))

    def cut(self, content, _):
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[:1000])
        self.close_connection = True


def make_certificates(folder):
    """An authority, and a certificate of it for this machine; as an operator's own mirrors have."""
    def openssl(*words):
        subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=folder)

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=mirrors",
            "-addext", "basicConstraints=critical,CA:TRUE")
    openssl("req", *key, "-keyout", "host.key", "-out", "host.csr", "-subj", "/CN=localhost")
    (folder / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    openssl("x509", "-req", "-in", "host.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-extfile", "names", "-out", "host.pem")


class Mirrors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        make_certificates(cls.folder)
        (cls.folder / "corpus.txt").write_bytes(small_corpus(60_000).train)
        cls.shards = cls.folder / "shards"
        said = programs.run_command("starling-coordinator", "data", "prepare", "text", cls.shards, cls.folder / "corpus.txt",
                                    "--vocabulary", VOCABULARY, "--shard-mb", 0.02).stdout
        assert "run create asks each for one of them" in said, said
        cls.port = cls.serve()
        cls.port_of_old_tls = cls.serve(lambda context: setattr(context, "maximum_version", ssl.TLSVersion.TLSv1_2))
        cls.runs = 0

    @classmethod
    def serve(cls, change=lambda context: None):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cls.folder / "host.pem", cls.folder / "host.key")
        change(context)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Served", (Mirror,), {"files": cls.shards}))
        server.daemon_threads = True
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        cls.addClassCleanup(server.server_close)
        cls.addClassCleanup(server.shutdown)
        return server.server_address[1]

    def setUp(self):
        self.coordinator = programs.Coordinator(self.folder / f"project-{self._testMethodName}",
                                                self.folder / f"{self._testMethodName}.log")
        self.link = self.coordinator.init("Mirrored")

    def address(self, kind):
        return f"https://localhost:{self.port}/{kind}/"

    def create(self, mirrors, *options):
        """The result of `run create` with these mirrors, and the run's name."""
        type(self).runs += 1
        run = f"mirrored-{self.runs}"
        manifest = write_run(self.folder / run, None, {
            **SETTINGS, "run_id": run,
            "target_batch_size": 32,
            "model": {"layers": 1, "width": 32, "heads": 2, "context": 16, "vocabulary": VOCABULARY},
            "data": {"kind": "tokens", "shards": str(self.shards / "shards.json"), "mirrors": mirrors,
                     "mirror_ca": (self.folder / "ca.pem").read_text(), "shard_rounds": 1}})
        return self.coordinator.command("run", "create", self.coordinator.folder, manifest, *options, check=False), run

    def kinds_that_work(self):
        kinds = ("whole", "ranges", "old", "old_without_length", "chunked", "gzipped", "redirect", "redirect_elsewhere")
        return [self.address(kind) for kind in kinds] + [f"https://127.0.0.1:{self.port_of_old_tls}/whole/"]

    def test_1_an_operator_hears_of_each_mirror(self):
        mirrors = self.kinds_that_work()
        failing = {
            self.address("redirect_endless"): "it sends on more than 5 times",
            self.address("redirect_plain"): "it sends on to 'http://localhost/whole/",
            self.address("too_long"): "another length",
            self.address("other_bytes"): "are not those of digest",
            self.address("cut"): "closed",
            f"https://localhost:{self.port}/": "HTTP status 404",
            f"https://localhost:{programs.free_port()}/": "onnect",
        }
        done, run = self.create(mirrors + list(failing))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(programs.last_line(done.stdout), run)
        for mirror in mirrors:
            self.assertIn(f"mirror {mirror}: works\n", done.stderr)
        for mirror, why in failing.items():
            line = next(line for line in done.stderr.splitlines() if f"mirror {mirror} " in line)
            self.assertTrue(line.startswith("warning: "), line)
            self.assertIn("does not work: ", line)
            self.assertIn(why, line)
        left = [path for path in self.coordinator.folder.rglob("*") if "mirror" in path.name or "staged" in path.name]
        self.assertEqual(left, [])

    def test_2_a_run_none_of_whose_mirrors_works_is_refused_unless_they_are_for_later(self):
        mirrors = [self.address("cut"), self.address("redirect_endless")]
        done, _ = self.create(mirrors)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("none of the 2 mirrors gives shards out", done.stderr)
        done, run = self.create(mirrors, "--mirrors-later")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("mirror " + mirrors[0], done.stderr)
        signed = self.coordinator.command("run", "sign", self.coordinator.folder, run, "--mirror", mirrors[0], check=False)
        self.assertNotEqual(signed.returncode, 0)
        self.assertIn(f"warning: mirror {mirrors[0]} does not work: ", signed.stderr)
        signed = self.coordinator.command("run", "sign", self.coordinator.folder, run, "--mirror", self.address("redirect"))
        self.assertIn(f"mirror {self.address('redirect')}: works", signed.stderr)

    def test_3_a_volunteer_trains_from_each_kind_and_waits_without_a_failure(self):
        """One after the other, by signing the run again; the first mirror is none."""
        kinds = self.kinds_that_work()
        done, run = self.create([self.address("cut")], "--mirrors-later")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.coordinator.start_run(run)
        self.coordinator.serve()
        self.addCleanup(self.coordinator.server.stop)
        volunteer = programs.Volunteer("ada", self.folder / "ada", self.folder / "ada.log")
        self.addCleanup(volunteer.daemon.stop)
        volunteer.start()
        volunteer.join(self.link)

        def waits():
            return (volunteer.status() or {}).get("reason", "").startswith("waiting for training data: mirror ")

        programs.wait_until(waits, "it says what it waits for")
        self.assertNotIn("trainer failed", volunteer.command("status").stdout)
        self.assertEqual(len(volunteer.journal()), 0)
        for signed, mirror in enumerate(kinds, 1):
            self.coordinator.command("run", "sign", self.coordinator.folder, run, "--mirror", mirror)
            programs.wait_until(lambda: self.coordinator.server.log().count("signed anew") == signed, "the server follows")
            volunteer.daemon.stop()
            for kept in (volunteer.folder / "shards").iterdir():
                kept.unlink()
            rounds = len(volunteer.journal())
            volunteer.start()
            programs.wait_until(lambda: len(volunteer.journal()) > rounds, f"it trains from {mirror}")


if __name__ == "__main__":
    suite.main()
