#!/usr/bin/env python3
"""Tests that every text of the window is in the files of translations, and complete: translations_test.py LUPDATE

The files are compared with those that LUPDATE makes of them and of the present sources."""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "gui/app/translations"
LUPDATE = sys.argv.pop(1) if len(sys.argv) > 1 else "lupdate"
PLACE = re.compile(r"%(?:L?[0-9]+|n)")


def messages(path):
    """{(context, source, comment): its translations}; an unfinished one has none."""
    found = {}
    for context in ElementTree.parse(path).getroot().iter("context"):
        for message in context.iter("message"):
            translation = message.find("translation")
            forms = [form.text or "" for form in translation.iter("numerusform")] or [translation.text or ""]
            key = (context.findtext("name"), message.findtext("source"), message.findtext("comment", ""))
            found[key] = forms if translation.get("type") is None and all(forms) else []
    return found


# A literal of C++, and further ones that follow it at once.
LITERAL = r'"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*'
# Where the daemon takes the sentences of its status from: each group is one or more literals.
SAID = {
    "client/session/session_view.cpp": [rf"Phase::(?:waiting|joining|downloading), ([^;]*?)}};"],
    "client/session/session.cpp": [r"lose_sync\(([^;]*);"],
    "client/session/session_sync.cpp": [r"lose_sync\(([^;]*);"],
    "client/session/replica.cpp": [r"kOtherBeginning =([^;]*);", r"lose_sync\(([^;]*);", r"unsynced_reason_\(([^)]*)\)",
                                   r"unsynced_reason_ = ([^;]*);"],
    "client/daemon/refusals.cpp": [r"return (?:Refusal)?{([^;]*);"],
    "client/daemon/refusals.h": [r"kOpenPort = ([^;]*);"],
    "client/daemon/run_preparation.cpp": [r"options.tell\((\"[^;]*)\);"],
    "client/daemon/session_status.cpp": [r"problems.push_back\(([^;]*);"],
    "client/daemon/project_run.cpp": [r"problems.push_back\(([^;]*);"],
    "client/daemon/app.cpp": [r"ends_when =([^;]*);", r"problems.push_back\(([^;]*);"],
    "client/daemon/app_projects.cpp": [r"activity = (\"[^;]*);", r"close_run\((\"[^\"]*\")"],
}
# Shown elsewhere, or by other words: figures that follow a sentence, commands, and the remedy's button.
NOT_SENTENCES = re.compile(r"prefs set|projects allow|starling join|^allow |^choose |\{\}|^$|^, ")

# Causes and errors that follow a finding.
NOT_FINDINGS = re.compile(r"^make a file|^overclocked or broken")


def sentences_said():
    """(file, the head of a sentence that the daemon may show)."""
    for file, places in SAID.items():
        source = (ROOT / file).read_text()
        for place in places:
            found = re.findall(place, source, re.S)
            assert found, f"{file}: nothing like {place}"
            for literal in (literal for part in found for literal in re.findall(LITERAL, part)):
                text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literal))
                if not NOT_SENTENCES.search(text):
                    yield file, text.split(": ")[0].removesuffix(":")


class Translations(unittest.TestCase):
    def check(self, name, *options):
        with tempfile.TemporaryDirectory() as folder:
            updated = Path(folder) / name
            shutil.copy(FOLDER / name, updated)
            subprocess.run([LUPDATE, "-silent", "-no-obsolete", "-locations", "none", *options, "-I", ROOT, ROOT / "gui",
                            "-ts", updated], check=True, capture_output=True)
            wanted = messages(updated)
        self.assertGreater(len(wanted), 5)
        self.assertEqual([key for key, forms in wanted.items() if not forms], [], "not translated")
        self.assertEqual(wanted, messages(FOLDER / name), "cmake --build build/release --target update_translations")
        return wanted

    def test_english_has_all_its_plurals(self):
        self.check("starling_en.ts", "-pluralonly")

    def test_russian_is_complete_and_names_every_figure(self):
        for (context, source, _), forms in self.check("starling_ru.ts").items():
            for form in forms:
                self.assertEqual(set(PLACE.findall(form)), set(PLACE.findall(source)), f"{context}: {source}")

    def test_the_window_knows_the_sentences_of_the_daemon(self):
        known = {source for context, source, _ in messages(FOLDER / "starling_ru.ts") if context == "Daemon"}
        said = set(sentences_said())
        self.assertGreater(len(said), 40)
        self.assertEqual(sorted((file, head) for file, head in said if head not in known), [],
                         "not in kSentences of gui/models/daemon_words.cpp")

    def test_the_window_knows_the_findings_of_the_self_test(self):
        cpp = (ROOT / "client/cli/doctor_self_test.cpp").read_text()
        texts = ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literal)) for literal in re.findall(LITERAL, cpp)]
        said = [re.sub(r"{[^}]*}", "7", text) for text in texts if " " in text and not NOT_FINDINGS.search(text)]
        self.assertGreater(len(said), 10)
        words = (ROOT / "gui/models/self_test_words.cpp").read_text()
        known = [text.encode().decode("unicode_escape") for text in re.findall(r'{\s*"([^"]+)",\s*(?:QT_TRANSLATE_NOOP|"")', words)]
        self.assertEqual([text for text in said if not any(re.fullmatch(pattern, text) for pattern in known)], [],
                         "not in gui/models/self_test_words.cpp")


if __name__ == "__main__":
    unittest.main()
