#!/usr/bin/env python3
"""Data files of many forms: each is refused when the run is created, with the file and what is wrong in it, or trained on.
And a volunteer whose trainer fails: its owner is told, and the operator."""

import json
import os
import random
import re
import shutil
import struct
import tempfile
import unittest
from pathlib import Path

import programs
import suite
from swarm import write_run

SAMPLES = 512
HELD_OUT = 64
SIDE = 4
CLASSES = 3
VOCABULARY = 300
TOKENS = 30_000
SIZES = {"U8": 1, "I8": 1, "BOOL": 1, "U16": 2, "F16": 2, "BF16": 2, "I32": 4, "U32": 4, "F32": 4, "I64": 8, "F64": 8}


def tensors(*parts):
    """A safetensors file with these (name, type, shape, bytes), in this order."""
    head, at = {}, 0
    for name, kind, shape, data in parts:
        head[name] = {"dtype": kind, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(part[3] for part in parts)


def pixels(count, seed, kind="U8", shape=None):
    chance = random.Random(seed)
    values = count * SIDE * SIDE
    data = chance.randbytes(values) if kind == "U8" else struct.pack(f"<{values}f", *(chance.random() for _ in range(values)))
    if kind not in ("U8", "F32"):
        data = bytes(values * SIZES[kind])
    return ("inputs", kind, [count, SIDE * SIDE] if shape is None else shape, data)


def labels(values, kind="I32", shape=None):
    form = {"I32": "i", "I64": "q", "U8": "B", "F32": "f", "U16": "H"}[kind]
    return ("labels", kind, [len(values)] if shape is None else shape, struct.pack(f"<{len(values)}{form}", *values))


def words(values, kind="U16", shape=None):
    form = {"U16": "H", "I32": "i", "I64": "q", "F32": "f", "U8": "B"}[kind]
    return ("tokens", kind, [len(values)] if shape is None else shape, struct.pack(f"<{len(values)}{form}", *values))


def classes(count=SAMPLES):
    return [item % CLASSES for item in range(count)]


def drawn(count=TOKENS, seed=1, most=VOCABULARY):
    chance = random.Random(seed)
    return [chance.randrange(5, most) for _ in range(count)]


def with_value(values, at, value):
    return values[:at] + [value] + values[at + 1:]


def with_float(inputs, at, value):
    name, kind, shape, data = inputs
    return (name, kind, shape, data[:4 * at] + struct.pack("<f", value) + data[4 * at + 4:])


GOOD = tensors(pixels(SAMPLES, 1), labels(classes()))
WORDS = tensors(words(drawn()))
FLOATS = pixels(SAMPLES, 1, "F32")
MANY_NAN = ("inputs", "F32", [SAMPLES, SIDE * SIDE], struct.pack("<f", float("nan")) * (SAMPLES * SIDE * SIDE))

# Kind, the training file, and words of the refusal; None: it is trained on.
CASES = {
    "good": ("labelled", GOOD, None),
    "floats": ("labelled", tensors(FLOATS, labels(classes())), None),
    "labels-first": ("labelled", tensors(labels(classes(), "I64"), pixels(SAMPLES, 1)), None),
    "pictures": ("labelled", tensors(pixels(SAMPLES, 1, shape=[SAMPLES, 1, SIDE, SIDE]), labels(classes())), None),
    "further-tensors": ("labelled", tensors(("names", "U8", [3], b"abc"), pixels(SAMPLES, 1), labels(classes())), None),
    "one-nan": ("labelled", tensors(with_float(FLOATS, 40, float("nan")), labels(classes())), None),
    "all-nan": ("labelled", tensors(MANY_NAN, labels(classes())), "not finite numbers, the first is sample 0"),
    "some-infinite": ("labelled", tensors(*(lambda f: (f, labels(classes())))(
        with_float(with_float(FLOATS, 160, float("inf")), 0, float("-inf")))), None),
    "labels-u8": ("labelled", tensors(pixels(SAMPLES, 1), labels(classes(), "U8")), "'labels' is U8 [512]"),
    "labels-f32": ("labelled", tensors(pixels(SAMPLES, 1), labels(classes(), "F32")), "'labels' is F32 [512]"),
    "labels-u16": ("labelled", tensors(pixels(SAMPLES, 1), labels(classes(), "U16")), "'labels' is U16 [512]"),
    "labels-column": ("labelled", tensors(pixels(SAMPLES, 1), labels(classes(), shape=[SAMPLES, 1])), "[512, 1]"),
    "labels-scalar": ("labelled", tensors(pixels(SAMPLES, 1), labels([1], shape=[])), "'labels' is I32 []"),
    "labels-fewer": ("labelled", tensors(pixels(SAMPLES, 1), labels(classes(SAMPLES - 1))), "'labels' is I32 [511]"),
    "labels-from-1": ("labelled", tensors(pixels(SAMPLES, 1), labels([1 + c for c in classes()])), "sample 2 is of class 3"),
    "labels-negative": ("labelled", tensors(pixels(SAMPLES, 1), labels(with_value(classes(), 511, -1))),
                        "sample 511 is of class -1"),
    "labels-huge": ("labelled", tensors(pixels(SAMPLES, 1), labels(with_value(classes(), 7, 1 << 40), "I64")),
                    "sample 7 is of class 1099511627776"),
    "inputs-f16": ("labelled", tensors(pixels(SAMPLES, 1, "F16"), labels(classes())), "'inputs.dtype': it is 'F16'"),
    "inputs-bool": ("labelled", tensors(pixels(SAMPLES, 1, "BOOL"), labels(classes())), "'inputs.dtype': it is 'BOOL'"),
    "inputs-u16": ("labelled", tensors(pixels(SAMPLES, 1, "U16"), labels(classes())), "'inputs' is U16"),
    "inputs-i32": ("labelled", tensors(pixels(SAMPLES, 1, "I32"), labels(classes())), "'inputs' is I32"),
    "inputs-scalar": ("labelled", tensors(("inputs", "U8", [], b"x"), labels([1])), "'inputs' is U8 []"),
    "inputs-smaller": ("labelled", tensors(("inputs", "U8", [SAMPLES, 9], bytes(SAMPLES * 9)), labels(classes())),
                       "9 values each, and the model takes 16"),
    "inputs-none": ("labelled", tensors(("inputs", "U8", [SAMPLES, 0], b""), labels(classes())), "0 values each"),
    "no-samples": ("labelled", tensors(("inputs", "U8", [0, 16], b""), labels([])), "0 words or samples"),
    "other-names": ("labelled", tensors(("x", "U8", [SAMPLES, 16], bytes(SAMPLES * 16)), ("y", "I32", [SAMPLES], bytes(4 * SAMPLES))),
                    "no tensor 'inputs'"),
    "no-labels": ("labelled", tensors(pixels(SAMPLES, 1)), "no tensor 'labels'"),
    "cut": ("labelled", GOOD[:-100], "tensor file"),
    "longer": ("labelled", GOOD + b"more", "tensor file"),
    "no-header": ("labelled", b"\x89PNG\r\n\x1a\n" + bytes(500), "tensor file"),
    "header-cut": ("labelled", GOOD[:40], "tensor file"),
    "header-no-json": ("labelled", struct.pack("<Q", 9) + b"not json!", "tensor file"),
    "pickle": ("labelled", b"\x80\x04\x95" + bytes(300), "tensor file"),
    "empty": ("labelled", b"", "tensor file"),
    "words": ("tokens", WORDS, None),
    "words-i32": ("tokens", tensors(words(drawn(), "I32")), None),
    "words-last": ("tokens", tensors(words(with_value(drawn(), TOKENS - 1, VOCABULARY - 1))), None),
    "words-i64": ("tokens", tensors(words(drawn(), "I64")), "'tokens' is I64"),
    "words-u8": ("tokens", tensors(words(drawn(most=200), "U8")), "'tokens' is U8"),
    "words-f32": ("tokens", tensors(words(drawn(), "F32")), "'tokens' is F32"),
    "words-rows": ("tokens", tensors(words(drawn(), shape=[TOKENS // 10, 10])), "'tokens' is U16 [3000, 10]"),
    "words-beyond": ("tokens", tensors(words(with_value(drawn(), 29_999, VOCABULARY))), "the token at place 29999 is 300"),
    "words-negative": ("tokens", tensors(words(with_value(drawn(), 3, -100), "I32")), "the token at place 3 is -100"),
    "words-few": ("tokens", tensors(words(drawn(20))), "data.train_items"),
    "words-larger": ("tokens", tensors(words(drawn()), ("word_starts", "U8", [400], bytes(400))), "vocabulary of 400"),
    "words-text": ("tokens", b"It is a text, and no file of tensors." * 100, "tensor file"),
    "samples-as-words": ("tokens", GOOD, "no tensor 'tokens'"),
    "words-as-samples": ("labelled", WORDS, "no tensor 'inputs'"),
}
MODELS = {"labelled": {"architecture": "mlp", "layers": 1, "width": 8, "inputs": SIDE * SIDE, "classes": CLASSES},
          "tokens": {"architecture": "gpt", "layers": 1, "width": 16, "heads": 2, "context": 16, "vocabulary": VOCABULARY}}
HELD_OUT_FILES = {"labelled": tensors(pixels(HELD_OUT, 2), labels(classes(HELD_OUT))),
                  "tokens": tensors(words(drawn(2000, 2)))}


class Project(unittest.TestCase):
    """A served project with one volunteer, who is not started."""

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="starling-e2e-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.coordinator = programs.Coordinator(cls.folder / "project", cls.folder / "coordinator.log")
        cls.link = cls.coordinator.init("Data")
        cls.coordinator.serve()
        cls.addClassCleanup(cls.coordinator.server.stop)
        cls.volunteer = programs.Volunteer("ada", cls.folder / "ada", cls.folder / "ada.log")
        cls.addClassCleanup(cls.volunteer.daemon.stop)

    def create(self, name, kind, train):
        files = self.folder / name
        files.mkdir()
        (files / "train").write_bytes(train)
        (files / "held_out").write_bytes(HELD_OUT_FILES[kind])
        manifest = write_run(files, None, {
            "run_id": name, "target_batch_size": 16, "micro_batch_size": 8, "peers_max": 2, "model": MODELS[kind],
            "data": {"kind": kind, "train": "train", "validation": "held_out"}})
        return self.coordinator.command("run", "create", self.coordinator.folder, manifest, check=False)

    def say(self, *command):
        return self.coordinator.command(*command, check=False).stdout


class ManyForms(Project):
    def test_1_what_nobody_can_train_on_is_refused_with_the_file_and_the_reason(self):
        for name, (kind, train, refusal) in CASES.items():
            with self.subTest(name):
                done = self.create(name, kind, train)
                self.assertEqual(done.returncode, 0 if refusal is None else 1, done.stderr)
                if refusal is not None:
                    self.assertIn(refusal, done.stderr)
                    self.assertIn(str(self.folder / name), done.stderr)

    def test_2_what_is_taken_is_trained_on(self):
        self.volunteer.start()
        self.volunteer.join(self.link)
        for name in [name for name, case in CASES.items() if case[2] is None]:
            with self.subTest(name):
                self.coordinator.start_run(name)
                programs.wait_until(lambda: self.coordinator.run_status(name)["ledger_samples"] > 0, f"{name} is trained on")
                self.assertEqual([p for p in self.volunteer.status()["problems"] if "trainer" in p], [])
                if name == "good":
                    self.both_sides_know_what_computes(name)
                self.coordinator.pause_run(name)
                self.say("run", "retire", self.coordinator.folder, name)

    def both_sides_know_what_computes(self, run):
        """The device is the trainer's own word: in the volunteer's status and doctor, and in the operator's commands alone."""
        computing = self.volunteer.status()["computing"]
        self.assertEqual(computing["trainer"], "running")
        device = computing["device"]
        self.assertIn(device["kind"], ("cpu", "cuda"))
        self.assertRegex(device["backend"], r"^LibTorch \S+ with")
        self.assertEqual(device["precision"], "fp32")
        words = ".*, ".join(re.escape(device.get(part, "")) for part in ("name", "precision", "backend"))
        self.assertRegex(self.volunteer.command("status").stdout, f"device     {words}")
        self.assertRegex(self.volunteer.command("doctor", check=False).stdout, f"device    it computes on {words}")
        programs.wait_until(lambda: re.search(f"computes on +1 computer: {words}",
                                              self.say("run", "status", self.coordinator.folder, run)),
                            "run status says what computes")
        told = self.coordinator.run_status(run)
        self.assertEqual(told["trainers_on_processors"] + told["trainers_on_cards"], 1)
        self.assertEqual({field: told["devices"][0].get(field) for field in device}, device)


class FailingTrainer(Project):
    def test_a_trainer_that_dies_again_and_again_is_told_of_on_both_sides(self):
        self.assertEqual(self.create("good", "labelled", GOOD).returncode, 0)
        self.coordinator.start_run("good")
        # The daemon takes the trainer from its own folder.
        own = self.folder / "bin"
        own.mkdir()
        shutil.copy(programs.BIN / "starlingd", own)
        (own / "starling-trainer").write_text("#!/bin/sh\nexit 3\n")
        os.chmod(own / "starling-trainer", 0o755)
        self.volunteer.daemon.command[0] = own / "starlingd"
        self.volunteer.start()
        self.volunteer.join(self.link)

        def problem():
            return next((p for p in (self.volunteer.status() or {}).get("problems", []) if "the trainer fails" in p), None)

        programs.wait_until(problem, "the volunteer's status says it")
        doctor = self.volunteer.command("doctor", check=False)
        self.assertEqual(doctor.returncode, 4, doctor.stdout)
        self.assertIn("the trainer fails", doctor.stdout)
        self.assertNotIn("Nothing is wrong here", doctor.stdout)
        self.assertIn("it is not known what computes", doctor.stdout)
        self.assertIsNone(self.volunteer.status()["computing"]["device"])

        words = "the trainer of the only computer that should train fails: "
        programs.wait_until(lambda: words in self.say("run", "status", self.coordinator.folder, "good"),
                            "run status says it, with the reason")
        self.assertEqual(self.coordinator.run_status("good")["trainers_failing"], 1)
        self.assertRegex(self.say("doctor", self.coordinator.folder), f"PROBLEM  trainers of run good: {words}")
        self.assertIn(words, self.coordinator.server.log())
        self.assertNotIn(str(self.folder), self.say("run", "status", self.coordinator.folder, "good"))


if __name__ == "__main__":
    suite.main()
