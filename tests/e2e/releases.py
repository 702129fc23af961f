"""A per-user installation, releases for it, and the web host that serves them: all on this machine."""

import http.server
import json
import os
import shutil
import socket
import ssl
import subprocess
import tarfile
import threading
from pathlib import Path

import programs

PLATFORM = f"linux-{os.uname().machine}"


class StaticHost:
    """A plain web server for files, over TLS, which a test can make misbehave."""

    def __init__(self, folder, certificate_of=None, host="127.0.0.1"):
        self.folder = folder
        self.files = folder / "www"
        self.files.mkdir(parents=True)
        shown = certificate_of.folder if certificate_of else folder
        self.certificate = shown / "host.pem"
        if certificate_of is None:
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                            "-days", "2", "-subj", "/CN=a static host", "-addext", f"subjectAltName=DNS:localhost,IP:{host}",
                            "-keyout", folder / "host.key", "-out", self.certificate], check=True, capture_output=True)
        self.cut_after = None  # bytes of an archive, then the connection ends
        self.hold_after = None  # bytes of an archive, then nothing until `go_on` is set
        self.go_on = threading.Event()
        self.requests = []  # (path, first byte requested)
        own = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                own.answer(self)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

        self.server = Server((host, 0), Handler)
        self.server.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, shown / "host.key")
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        shown_as = host if ":" in host else "localhost"
        self.address = f"https://{programs.host_and_port(shown_as, self.server.server_address[1])}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, request):
        path = self.files / request.path.lstrip("/")
        if not path.is_file():
            request.send_error(404)
            return
        content = path.read_bytes()
        start = int(request.headers.get("Range", "bytes=0-")[len("bytes="):-1])
        self.requests.append((request.path, start))
        request.send_response(206 if start else 200)
        if start:
            request.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        request.send_header("Content-Length", str(len(content) - start))
        request.end_headers()
        is_archive = path.suffix == ".gz"
        try:
            if is_archive and self.cut_after is not None:
                request.wfile.write(content[start:self.cut_after])
                request.close_connection = True
                return
            if is_archive and self.hold_after is not None and start < self.hold_after:
                request.wfile.write(content[start:self.hold_after])
                self.go_on.wait()
                start = self.hold_after
            request.wfile.write(content[start:])
        except OSError:
            request.close_connection = True  # the client has gone

    def stop(self):
        self.go_on.set()
        self.server.shutdown()
        self.server.server_close()


class Releases:
    """The publisher's side: a key, archives, and the feed on the host."""

    def __init__(self, folder, host):
        self.folder = folder
        self.host = host
        self.key = folder / "release.key"
        folder.mkdir()
        programs.run_command("starling-release", "keygen", self.key)

    def source(self, path):
        programs.run_command("starling-release", "source", "--feed", self.host.address + "feed.json", "--key",
                             f"{self.key}.pub", "--ca", self.host.certificate, "--out", path)

    def archive(self, version, files):
        """Puts an archive on the host that holds these programs, {name: file or script's text}."""
        tree = self.folder / version / "starling"
        lay_out(tree, version, files)
        path = self.host.files / f"starling-{version}-{PLATFORM}.tar.gz"
        with tarfile.open(path, "w:gz", compresslevel=1) as tar:
            tar.add(tree, "starling")
        shutil.rmtree(tree)
        return path

    def make_root(self, *people, signers):
        """A key for each of the people, and the first root, which the key of before signs, too."""
        for person in people:
            self.keygen(person)
        keys = [option for person in people for option in ("--key", f"{self.key_of(person)}.pub")]
        self.newest_root = self.host.files / "root.1.json"
        programs.run_command("starling-release", "root", *keys, "--out", self.newest_root)
        programs.run_command("starling-release", "sign", self.newest_root, "--old-key", self.key)
        self.sign(self.newest_root, signers)

    def rotate(self, version, *, without, by):
        """Writes the next root, not signed yet."""
        self.keygen(by)
        self.root_before = self.newest_root
        self.newest_root = self.host.files / f"root.{version}.json"
        programs.run_command("starling-release", "rotate", "--root", self.root_before, "--without", without, "--key",
                             f"{self.key_of(by)}.pub", "--out", self.newest_root)

    def sign_root(self, *signers):
        self.sign(self.newest_root, signers, "--root", self.root_before)

    def sign(self, path, signers, *options):
        for person in signers:
            programs.run_command("starling-release", "sign", path, "--key", self.key_of(person), *options)

    def key_of(self, person):
        return self.folder / f"{person}.key"

    def keygen(self, person):
        programs.run_command("starling-release", "keygen", self.key_of(person))

    def joint_feed(self, version, *archives, signers):
        """Announces a release that these people sign, one after the other."""
        path = self.host.files / "feed.json"
        programs.run_command("starling-release", "feed", "--root", self.newest_root, "--version", version, "--notes",
                             f"What is new in {version}.", "--out", path, *archives)
        self.sign(path, signers, "--root", self.newest_root)

    def feed(self, version, *archives, key=None):
        path = self.host.files / "feed.json"
        programs.run_command("starling-release", "feed", "--key", key or self.key, "--version", version, "--notes",
                             f"What is new in {version}.", "--out", path, *archives)
        return path


def lay_out(root, version, files):
    """Writes the tree that archives hold and installations begin with."""
    folder = root / "versions" / version / "bin"
    folder.mkdir(parents=True)
    for name, content in files.items():
        target = folder / name
        if isinstance(content, str):
            target.write_text(content)
        else:
            subprocess.run(["strip", "-o", target, content], check=True)
        target.chmod(0o755)
    (root / "installation.json").write_text(json.dumps({"layout": 1}))
    (root / "current").symlink_to(Path("versions") / version)


