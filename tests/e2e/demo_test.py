#!/usr/bin/env python3
"""The demo's own arithmetic: its text, its timetable of kills, its comparison of journals."""

import io
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import demo
import programs
import results
import suite
import text
import view
from chaos import Chaos


def entry(number, contributions, digest="d", group="g"):
    return {"round": number, "group_id": group, "state_digest": f"{digest}{number}", "contributions": contributions}


class Journals(unittest.TestCase):
    def test_a_round_counts_once_however_many_wrote_it_down(self):
        journals = {"a": {1: entry(1, {"p": 5, "q": 3})}, "b": {1: entry(1, {"p": 5, "q": 3}), 2: entry(2, {"q": 4})}}
        self.assertEqual(results.compare_journals(journals), (12, 2, []))

    def test_groups_of_one_round_add_up(self):
        journals = {"a": {1: entry(1, {"p": 5}, group="g")}, "b": {1: entry(1, {"q": 3}, group="h")}}
        self.assertEqual(results.compare_journals(journals)[0], 8)

    def test_columns_of_a_grid_add_up_and_one_that_was_cut_off_says_nothing(self):
        def column(number, contributions, digest="d"):
            return {**entry(1, contributions, digest), "column": number}

        journals = {"a": {1: column(0, {"p": 5})}, "b": {1: column(1, {"q": 3})}, "c": {1: column(1, {})}}
        self.assertEqual(results.compare_journals(journals), (8, 1, []))
        journals["c"] = {1: column(1, {"q": 4}, digest="other")}
        self.assertEqual(len(results.compare_journals(journals)[2]), 2)

    def test_two_accounts_of_one_round_are_a_disagreement(self):
        journals = {"a": {1: entry(1, {"p": 5})}, "b": {1: entry(1, {"p": 6})}}
        self.assertEqual(results.compare_journals(journals)[2], ["round 1: a and b differ in contributions"])
        journals["b"] = {1: entry(1, {"p": 5}, digest="other")}
        self.assertEqual(results.compare_journals(journals)[2], ["round 1: a and b differ in state_digest"])

    def test_a_torn_last_line_does_not_count(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rounds.jsonl"
            path.write_text('{"round": 1, "group_id": "g"}\n{"round": 2, "gro')
            self.assertEqual(list(programs.read_journal(path)), [1])

    def test_states_are_the_same_only_at_the_same_round(self):
        self.assertTrue(results.same_state([{"state_round": 3, "state_digest": "x"}] * 2))
        self.assertFalse(results.same_state([{"state_round": 3, "state_digest": "x"},
                                             {"state_round": 3, "state_digest": "y"}]))
        self.assertFalse(results.same_state([]))


class Verdict(unittest.TestCase):
    GOOD = {"rounds": 9, "samples_accepted": 90, "ledger_samples": 90, "replicas_identical": True,
            "validation_bits_per_byte": {"first": 8.0, "last": 3.0, "gzip": 3.5}}

    def test_a_good_run_has_no_failure(self):
        self.assertEqual(results.failures(self.GOOD), [])

    def test_each_fault_is_named(self):
        for change in ({"rounds": 0}, {"ledger_samples": 89}, {"replicas_identical": False},
                       {"validation_bits_per_byte": {"first": 3.0, "last": 3.0}},
                       {"validation_bits_per_byte": {"first": None, "last": None}}):
            self.assertEqual(len(results.failures({**self.GOOD, **change})), 1, change)


class Seconds(unittest.TestCase):
    def test_phases_come_as_the_entry_script_gives_them(self):
        options = demo.parse_arguments(["--until-first-round", "--spent", "configure=8,7", "--spent", "build=310,590"])
        self.assertEqual(options.spent, [("configure", 8, 7), ("build", 310, 590)])

    def test_packages_are_not_part_of_what_configuring_and_building_take(self):
        lines = demo.timetable([("packages", 90, 30), ("configure", 8, 7), ("build", 310, 590), ("first round", 12, 20)])
        self.assertEqual([line.split()[-2:] for line in lines[1:]],
                         [["90", "30"], ["8", "7"], ["310", "590"], ["12", "20"], ["330", "617"]])


class Text(unittest.TestCase):
    def test_no_fortune_is_both_trained_on_and_held_out(self):
        corpus = text.load_corpus()
        held_out = set(corpus.held_out.split(b"\n\n"))
        train = set(corpus.train.split(b"\n\n"))
        self.assertGreater(len(corpus.train) + len(corpus.held_out), text.BYTES_MIN)
        self.assertGreater(len(corpus.held_out), 100_000)
        # Fortunes with an empty line inside are split here, and short pieces ("-- Mark Twain") may recur.
        self.assertEqual([piece for piece in held_out & train if len(piece) > 200], [])

    def test_the_split_is_the_same_every_time(self):
        self.assertEqual(text.load_corpus(), text.load_corpus())

    def test_a_missing_package_is_named(self):
        with self.assertRaisesRegex(text.TextMissing, "./dev setup"):
            text.load_corpus(Path("/nonexistent"))

    def test_gzip_needs_less_than_eight_bits_for_text(self):
        self.assertLess(text.compressed_bits_per_byte("gzip", b"the same words again " * 100), 2)


class FakeProgram:
    def __init__(self):
        self.kills, self.starts = 0, 0

    def kill(self):
        self.kills += 1


class FakeVictim:
    def __init__(self):
        self.daemon = self.server = FakeProgram()

    def start(self):
        self.daemon.starts += 1

    serve = start


class FakeSwarm:
    def __init__(self):
        self.volunteers = [FakeVictim() for _ in range(3)]
        self.coordinator = FakeVictim()


class Timetable(unittest.TestCase):
    def test_three_minutes_kill_a_volunteer_every_20_s_and_the_coordinator_once(self):
        swarm = FakeSwarm()
        chaos = Chaos(swarm, 180)
        for second in range(181):
            chaos.tick(second)
        chaos.finish()
        self.assertEqual(chaos.counts, {"volunteer": 8, "coordinator": 1})
        self.assertEqual(swarm.coordinator.server.starts, 1)
        self.assertEqual(sum(v.daemon.kills for v in swarm.volunteers), 8)
        self.assertEqual(sum(v.daemon.starts for v in swarm.volunteers), 8)

    def test_whoever_is_dead_at_the_end_is_raised(self):
        swarm = FakeSwarm()
        chaos = Chaos(swarm, 60)
        chaos.tick(20)
        chaos.finish()
        self.assertEqual(sum(v.daemon.starts for v in swarm.volunteers), 1)


class Processes(unittest.TestCase):
    def program(self, folder, script):
        return programs.Program("p", ["/bin/sh", "-c", script], Path(folder) / "log").start()

    def test_stop_ends_the_children_too(self):
        with tempfile.TemporaryDirectory() as folder:
            program = self.program(folder, "sleep 600 & trap '' TERM; sleep 600")
            programs.wait_until(lambda: len(programs.session_members(program.process.pid)) == 3, "two children")
            self.assertIsNone(program.stop(timeout_s=0.1))
            self.assertEqual(programs.session_members(program.process.pid), [])

    def test_an_orphan_of_a_killed_program_is_noticed(self):
        with tempfile.TemporaryDirectory() as folder:
            program = self.program(folder, "sleep 600 & wait")
            programs.wait_until(lambda: len(programs.session_members(program.process.pid)) == 2, "a child")
            program.kill()
            self.assertEqual(len(program.leftovers()), 1)
            program.stop()
            self.assertEqual(program.leftovers(), [])

    def test_programs_die_with_whoever_started_them(self):
        script = ("import programs, sys; p = programs.Program('p', ['/bin/sleep', '600'], '/dev/null').start();"
                  "print(p.process.pid, flush=True); sys.stdin.read()")
        parent = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  cwd=Path(__file__).parent)
        child = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
        parent.communicate()
        programs.wait_until(lambda: not programs.session_members(child), "the child ends")


class Model(unittest.TestCase):
    def test_what_the_model_writes_cannot_steer_the_terminal(self):
        self.assertEqual(demo.printable("a\x1b[2J\tb\nc\u009b"), "a\ufffd[2J b\nc\ufffd")

    def test_the_schedule_ends_with_the_time(self):
        short, long = (demo.run_settings(demo.parse_arguments(["--minutes", m]))["schedule"] for m in ("5", "10"))
        self.assertEqual(2 * short["total_rounds"], long["total_rounds"])
        self.assertLess(short["warmup_rounds"], short["total_rounds"])


class Display(unittest.TestCase):
    STATUS = {"phase": "training", "reason": "", "round": 7, "samples_this_round": 24, "target_batch_size": 96,
              "samples_total": 600, "samples_per_s": 40.0, "loss": 2.0, "validation_bits_per_byte": 3.21,
              "validation_round": 5, "state_round": 7, "swarm": {"size": 2, "samples_per_s": 80.0, "samples_accumulated": 48}}

    def test_the_line_adds_up_the_swarm(self):
        line = view.summary_line({"a": self.STATUS, "b": self.STATUS, "c": None}, 61)
        for part in ("round     7", "48/96", "loss 2.00", "validation 3.21", "80 samples/s", "1:01 left"):
            self.assertIn(part, line)

    def test_the_validation_is_that_of_the_newest_state_measured(self):
        earlier = {**self.STATUS, "validation_bits_per_byte": 5.15, "validation_round": 0, "state_round": 8}
        self.assertIn("validation 3.21", view.summary_line({"a": earlier, "b": self.STATUS}, 61))

    def test_nobody_there_is_a_line_too(self):
        self.assertIn("0/0", view.summary_line({"a": None}, 5))

    def test_shares_and_absence_are_shown(self):
        lines = list(view.volunteer_lines({"a": self.STATUS, "b": None}))
        self.assertIn("100.0 %", lines[0])
        self.assertIn("away", lines[1])

    def test_without_a_terminal_there_are_no_escapes(self):
        out = io.StringIO()
        view.View(out, "headline").show({"a": self.STATUS}, 5)
        self.assertNotIn("\x1b", out.getvalue())


if __name__ == "__main__":
    suite.main()
