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


if __name__ == "__main__":
    unittest.main()
