"""Random requests of a volunteer to the daemon over its socket: as many as it can answer."""

import json
import socket
from pathlib import Path

ANSWER_WITHIN_S = 10  # a daemon that does not answer by then hangs


class Line:
    """A connection to a daemon's control socket."""

    def __init__(self, volunteer):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(ANSWER_WITHIN_S)
        self.socket.connect(str(Path(volunteer.folder) / "control.sock"))
        self.stream = self.socket.makefile("rwb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stream.close()
        self.socket.close()

    def ask(self, command, **fields):
        self.stream.write(json.dumps({"command": command, **fields}).encode() + b"\n")
        self.stream.flush()
        return json.loads(self.stream.readline())

    def status(self):
        return self.ask("status")["status"]

    def settings(self):
        """The names of preferences that change nothing outside this computer."""
        names = self.ask("preferences")["preferences"]
        return sorted(set(names) - {"port_mapping", "update_check", "update_install"})


def any_wish(chance, names):
    """A command and its fields; some of them make no sense."""
    kind = chance.randrange(8)
    if kind == 0:
        return {"command": "pause", "for": chance.choice(["", "15m", "3h", "tomorrow", "nonsense"]),
                "after_round": chance.random() < 0.3, "gpu": chance.random() < 0.2}
    if kind == 1:
        return {"command": "resume", "gpu": chance.random() < 0.2}
    if kind == 2:
        return {"command": "set_preferences", "preset": chance.choice(["gentle", "balanced", "dedicated", "none"])}
    value = chance.choice(["yes", "no", "always", "rules", "never", "none", "game, film", str(chance.randrange(120))])
    return {"command": "set_preferences", "changes": [{"name": chance.choice(names), "value": value}]}


def any_question(chance):
    """A request that changes nothing about the training."""
    return chance.choice([
        {"command": "history", "span": chance.choice(["rounds", "day", "month", "all", "never"])},
        {"command": "peers"}, {"command": "projects"}, {"command": "log", "lines": 3}, {"command": "remote", "remote": "show"},
        {"command": "share", "project": chance.choice(["End to end", "Fish"]), "share": chance.random()},
        {"command": "train", "project": "Fish"}, {"command": "leave", "project": "Fish"}, {"command": "dance"},
        {"command": "join", "link": "starling://nowhere"},
    ])
