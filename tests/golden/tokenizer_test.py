#!/usr/bin/env python3
"""tokenizer_test.py STARLING_COORDINATOR: compares text that we prepare with SentencePiece's own Python module."""

import array
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

try:
    import sentencepiece
except ImportError:
    print("skipped: python3-sentencepiece is not installed")
    sys.exit(77)

SYLLABLES = ["ta", "ro", "mi", "len", "su", "ver", "gé", "nol", "hex", "pid", "wük", "jab", "Qo", "zyf", "—", "?"]
WORDS = ["the", "river", "runs", "under", "grey", "stones", *(one + two for one in SYLLABLES for two in SYLLABLES[:9])]
LINES = [" ".join(WORDS[(line * 7 + word * (1 + line % 5)) % len(WORDS)] for word in range(11)) for line in range(900)]


def tokens_of(path):
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    begin, end = json.loads(data[8 : 8 + length])["tokens"]["data_offsets"]
    return array.array("H", data[8 + length + begin : 8 + length + end]).tolist()


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "text.txt").write_text("\n".join(LINES) + "\n")
        subprocess.run([sys.argv[1], "data", "prepare", "text", folder / "out", folder / "text.txt", "--vocabulary", "120"],
                       check=True)
        tokenizer = sentencepiece.SentencePieceProcessor(model_file=str(folder / "out/tokenizer.model"))
        data = json.loads((folder / "out/shards.json").read_text())["data"]
        ours = [token for file in (*data["shards"], data["validation"]) for token in tokens_of(folder / "out" / file["sha256"])]
        theirs = [token for line in LINES for token in tokenizer.encode(line)]
        assert ours == theirs, "the same text has other tokens"
        assert tokenizer.decode(tokenizer.encode(LINES[0])) == LINES[0]
        assert [tokenizer.id_to_piece(mark) for mark in range(5)] == ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]
        print(f"{len(ours)} tokens of {len(LINES)} lines are the same")


main()
