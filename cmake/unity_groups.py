#!/usr/bin/env python3
"""Divides the source files of this folder into groups that may be compiled as one file each (a unity build): in a group,
no two files define a name of the same spelling at namespace level, nor one that a header of the folder defines. Prints the
groups' numbers, in the order of the files.

    unity_groups.py FILES_IN_A_GROUP FILE …
"""

import re
import sys
from pathlib import Path

# Definitions that begin a line: constants, types, functions, and macros.
DEFINITIONS = [
    re.compile(r"^(?:static |inline )*(?:constexpr|const) [^=;({]*?\b(k[A-Z]\w*)", re.MULTILINE),
    re.compile(r"^(?:template <[^\n]*>\n?)?(?:struct|class|enum class|using) (\w+)", re.MULTILINE),
    re.compile(r"^(?!return\b)[A-Za-z][\w:<>,&*\[\] ]*[ &*>](\w+)\(", re.MULTILINE),
    re.compile(r"^#define (\w+)", re.MULTILINE),
]
CONSTANT = re.compile(r"\bk[A-Z]\w*")


class Names:
    """The names that some files define, and the constants that they mention without defining them."""

    def __init__(self, text=""):
        self.defined = {name for pattern in DEFINITIONS for name in pattern.findall(text)}
        self.constants_used = set(CONSTANT.findall(text)) - self.defined

    def collides_with(self, other):
        # A constant of a header must not meet another file's own constant of that name: it would be ambiguous.
        return bool(self.defined & (other.defined | other.constants_used) or self.constants_used & other.defined)

    def add(self, other):
        self.defined |= other.defined
        self.constants_used |= other.constants_used


def divide(texts, files_in_a_group, headers=()):
    """The number of each text's group."""
    groups, numbers = [], []  # groups: [files, names]
    of_headers = set().union(*(Names(text).defined for text in headers))
    for names in map(Names, texts):
        # Other files of its group may include the header.
        alone = any(name in of_headers for name in names.defined if CONSTANT.fullmatch(name))
        fitting = (n for n, (files, known) in enumerate(groups) if files < files_in_a_group and not known.collides_with(names))
        number = len(groups) if alone else next(fitting, len(groups))
        if number == len(groups):
            groups.append([0, Names()])
        groups[number][0] += files_in_a_group if alone else 1
        groups[number][1].add(names)
        numbers.append(number)
    return numbers


def main():
    texts = [Path(name).read_text(encoding="utf-8") for name in sys.argv[2:]]
    headers = [path.read_text(encoding="utf-8") for path in sorted(Path().glob("*.h"))]
    print(*divide(texts, int(sys.argv[1]), headers), sep=";", end="")


if __name__ == "__main__":
    main()
