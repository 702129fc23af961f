"""The demo's text: the fortunes that Debian ships, divided into training and held-out text, always alike."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

FORTUNES = Path("/usr/share/games/fortunes")
HELD_OUT_EVERY = 20  # one of this many fortunes is never trained on
BYTES_MIN = 2_000_000


class TextMissing(Exception):
    pass


@dataclass
class Corpus:
    train: bytes
    held_out: bytes


def read_fortunes(folder=FORTUNES):
    """Every fortune once, in the order of file names; '.dat' are indexes and '.u8' links to the same text."""
    if not folder.is_dir():
        raise TextMissing(f"no text in {folder}: run ./dev setup, which installs the Debian packages with it")
    fortunes = {}
    for path in sorted(folder.iterdir()):
        if path.is_file() and not path.is_symlink() and path.suffix != ".dat":
            for fortune in path.read_bytes().split(b"\n%\n"):
                if fortune.strip(b"%\n\t "):
                    fortunes[fortune.strip(b"\n")] = None
    return list(fortunes)


def load_corpus(folder=FORTUNES):
    fortunes = read_fortunes(folder)
    held_out = fortunes[::HELD_OUT_EVERY]
    train = [f for i, f in enumerate(fortunes) if i % HELD_OUT_EVERY]
    corpus = Corpus(b"\n\n".join(train) + b"\n", b"\n\n".join(held_out) + b"\n")
    if len(corpus.train) + len(corpus.held_out) < BYTES_MIN:
        raise TextMissing(f"{folder} holds less than {BYTES_MIN} bytes of text: is the package 'fortunes' whole?")
    return corpus


def compressed_bits_per_byte(program, text):
    """Bits per byte of the text as compressed by `gzip -9` or `xz -9`."""
    packed = subprocess.run([program, "-9", "-c"], input=text, capture_output=True, check=True).stdout
    return 8 * len(packed) / len(text)
