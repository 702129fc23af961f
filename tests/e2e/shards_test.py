#!/usr/bin/env python3
"""Volunteers train from shards on two mirrors: first one is empty and the other serves wrong bytes, later one dies. All
of it runs over IPv6 if this machine has it: coordinator, mirrors and volunteers."""

import json
import shutil

import programs
import releases
import suite
import text
from swarm_case import RUN_ID, SwarmCase, small_corpus

VOCABULARY = 512
WRONG = "are not those of digest"


def export(coordinator, out):
    """Exports to that folder, once a copy of the state has arrived; returns the command's output."""
    def exported():
        done = coordinator.command("run", "export", coordinator.folder, RUN_ID, out, check=False)
        return done.stdout if done.returncode == 0 else None

    return programs.wait_until(exported, "a copy of the state has arrived")


class ShardSwarm(SwarmCase):
    VOLUNTEERS = 2
    HOST = programs.loopback()

    @classmethod
    def prepare(cls):
        cls.first = releases.StaticHost(cls.folder / "first", host=cls.HOST)
        cls.second = releases.StaticHost(cls.folder / "second", certificate_of=cls.first, host=cls.HOST)
        for host in (cls.first, cls.second):
            cls.addClassCleanup(host.stop)
        corpus = cls.folder / "corpus.txt"
        corpus.write_bytes(text.load_corpus().train)
        cls.shards = cls.folder / "shards"
        programs.run_command("starling-coordinator", "data", "prepare", "text", cls.shards, corpus, "--vocabulary", VOCABULARY,
                             "--shard-mb", 0.03)
        cls.lay_out(cls.second)
        for shard in cls.files():
            damaged = bytearray(shard.read_bytes())
            damaged[len(damaged) // 2] ^= 1
            (cls.second.files / shard.name).write_bytes(damaged)
        cls.swarm.coordinator.create_options = ["--mirrors-later"]  # none of them works yet
        cls.SETTINGS = {
            "checkpoint_rounds": 2,
            "model": {"layers": 2, "width": 64, "heads": 2, "context": 64, "vocabulary": VOCABULARY,
                      "activation": "gelu", "recent": 0},
            "data": {"kind": "tokens", "shards": str(cls.shards / "shards.json"),
                     "mirrors": [cls.first.address, cls.second.address],
                     "mirror_ca": cls.first.certificate.read_text(), "shard_rounds": 2},
        }

    @classmethod
    def files(cls):
        return [path for path in cls.shards.iterdir() if len(path.name) == 64]

    @classmethod
    def lay_out(cls, host):
        for shard in cls.files():
            shutil.copy(shard, host.files)

    def test_1_wrong_bytes_are_told_and_another_mirror_is_asked(self):
        for volunteer in self.swarm.volunteers:
            self.assertIn("mirror " + self.second.address, self.wait_for_log(volunteer.daemon, WRONG))
        self.assertEqual(self.rounds_of(self.swarm.volunteers[0]), 0)
        # its keeper has noticed; yet volunteers avoid it for half a minute, and longer each time
        self.lay_out(self.second)
        self.lay_out(self.first)
        self.wait_for_rounds(self.swarm.volunteers, 1)
        type(self).loss_at_first = self.loss()
        self.wait_for_rounds(self.swarm.volunteers, 7)

    def test_2_a_dead_mirror_is_survived(self):
        self.first.stop()
        served = len(self.second.requests)
        self.wait_for_rounds(self.swarm.volunteers, 12)
        self.assertGreater(len(self.second.requests), served)
        self.assertEqual(self.swarm.died(), [])

    def test_3_volunteers_are_known_by_that_address(self):
        for volunteer in self.swarm.volunteers:
            self.assertEqual(volunteer.status()["reach"]["address"], self.HOST)
            self.assertIn(f"at {self.HOST} port", self.wait_for_log(volunteer.daemon, "others can dial this computer"))
            project = json.loads(volunteer.command("projects", "--json").stdout)["projects"][0]
            self.assertEqual(project["address"], self.swarm.coordinator.address)

    def test_4_an_export_has_what_makes_its_tokens(self):
        out = self.folder / "export"
        said = export(self.swarm.coordinator, out)
        self.assertIn("AutoModel.from_pretrained", said)
        self.assertEqual((out / "spiece.model").read_bytes(), (self.shards / "tokenizer.model").read_bytes())
        told = json.loads((out / "tokenizer_config.json").read_text())
        self.assertEqual(told["tokenizer_class"], "GPTSw3Tokenizer")
        config = json.loads((out / "config.json").read_text())
        self.assertEqual((config["eos_token_id"], told["eos_token"]), (3, "[SEP]"))

    def test_5_volunteers_let_the_model_continue_a_text_of_tokens(self):
        prompt = text.load_corpus().held_out[:200].decode("utf-8", "ignore")
        for volunteer in self.swarm.volunteers:
            for asked in (["--prompt", prompt], []):
                self.assertRegex(volunteer.command("sample", *asked, "--length", 40).stdout, "[a-z]{3}")

    def test_6_the_loss_has_fallen_and_all_sides_agree(self):
        self.assertLess(self.loss(), 0.9 * self.loss_at_first)
        self.assert_all_sides_agree(19)
        for volunteer in self.swarm.volunteers:  # only the shards that its lane has read so far, and the next one
            kept = list((volunteer.folder / "shards").iterdir())
            self.assertLess(len(kept), len(self.files()))


class RunWithoutTokenizer(SwarmCase):
    """Its shards were prepared by a version whose listings did not name the tokenizer."""

    VOLUNTEERS = 1

    @classmethod
    def prepare(cls):
        corpus = cls.folder / "corpus.txt"
        corpus.write_bytes(small_corpus().train)
        shards = cls.folder / "shards"
        programs.run_command("starling-coordinator", "data", "prepare", "text", shards, corpus, "--vocabulary", VOCABULARY)
        listing = json.loads((shards / "shards.json").read_text())
        del listing["data"]["tokenizer"]
        (shards / "shards.json").write_text(json.dumps(listing))
        cls.SETTINGS = {"checkpoint_rounds": 2,
                        "model": {"layers": 1, "width": 32, "heads": 2, "context": 32, "vocabulary": VOCABULARY},
                        "data": {"kind": "tokens", "shards": str(shards / "shards.json")}}

    def test_1_it_trains_and_says_why_it_writes_no_text(self):
        self.wait_for_rounds(self.swarm.volunteers, 3)
        refused = self.swarm.volunteers[0].command("sample", "--prompt", "the", check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("publishes no tokenizer", refused.stderr)

    def test_2_an_export_says_that_it_is_without(self):
        out = self.folder / "export"
        said = export(self.swarm.coordinator, out)
        self.assertIn("what made its tokens of text this run does not say", said)
        self.assertEqual(sorted(path.name for path in out.iterdir()), ["config.json", "model.safetensors"])


if __name__ == "__main__":
    suite.main()
