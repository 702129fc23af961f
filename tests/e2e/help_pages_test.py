#!/usr/bin/env python3
"""Manual pages and completions match the programs' --help exactly."""

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import programs
import suite

GENERATOR = programs.ROOT / "packaging/help_pages.py"
PROGRAMS = ("starling", "starlingd", "starling-coordinator")


class HelpPages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.pages = Path(folder.name)
        subprocess.run([GENERATOR, "--bin", programs.BIN, "--out", cls.pages, "--version", "1.2.3", *PROGRAMS],
                       check=True, env={"SOURCE_DATE_EPOCH": "0", "PATH": "/usr/bin:/bin"})

    def completions(self, *words):
        """Bash's completions at the end of the line, options apart."""
        script = self.pages / f"{words[0]}.bash"
        line = " ".join(f"'{word}'" for word in words)
        function = "_" + words[0].replace("-", "_")
        code = (f"source '{script}'; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; {function}; "
                'printf "%s\\n" "${COMPREPLY[@]}"')
        offered = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True).stdout.split()
        return [word for word in offered if not word.startswith("-")]

    def test_every_command_and_option_has_its_place_in_the_manual(self):
        def commands_of(words):
            help_text = programs.run_command(*words, "--help").stdout
            yield words, re.findall(r"^  (-[\w-]+(?:,-[\w-]+)*)", help_text, re.MULTILINE)
            if "\nSubcommands:\n" in help_text:
                listed = help_text.partition("\nSubcommands:\n")[2].partition("\n\n")[0]
                for name in re.findall(r"^  ([a-z-]+)", listed, re.MULTILINE):
                    yield from commands_of([*words, name])

        for program in PROGRAMS:
            manual = (self.pages / f"{program}.1").read_text().replace("\\-", "-")
            for words, options in commands_of([program]):
                if len(words) > 1:
                    self.assertIn(f".SS {' '.join(words[1:])}", manual)
                for name in ",".join(options).split(","):
                    self.assertIn(name, manual, words)

    def test_a_manual_page_has_no_trace_of_the_computer_it_was_made_on(self):
        for page in self.pages.iterdir():
            text = page.read_text()
            self.assertNotIn(str(programs.BIN.resolve()), text)
            self.assertNotIn(str(Path.home()) + "/", text)
        self.assertIn('"1970-01-01" "Starling 1.2.3"', (self.pages / "starling.1").read_text())

    def test_bash_offers_what_can_come_next(self):
        self.assertEqual(self.completions("starling-coordinator", "backup", ""), ["now", "schedule"])
        self.assertEqual(self.completions("starling-coordinator", "ba"), ["ban", "backup"])
        self.assertEqual(self.completions("starling", "prefs", ""), ["get", "set", "preset"])
        self.assertEqual(self.completions("starling", "leaderboard", "--sort", "r"), ["recent", "run"])


if __name__ == "__main__":
    suite.main()
