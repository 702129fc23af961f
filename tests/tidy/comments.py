"""Checks that comments of C++ are plain English: what a block or a sentence begins with, and phrases; room by room."""

import re

import cpp_source
import plain_english

PATH = "tests/tidy/comments.py"
# Rooms whose comments are still to be rewritten. The list only shrinks, until it is empty and goes: a room that is clean
# may not stay on it, and no room is added.
ROOMS_STILL_TO_CLEAN = [
]

BEGINS_A_BLOCK = re.compile(plain_english.BAD_BEGINNING, re.IGNORECASE)  # the first word of a trailing one is small
BEGINS_A_SENTENCE = re.compile(r"(?<=[.!?]) " + plain_english.BAD_BEGINNING)
IS_CHAINED = re.compile(r"^…|[,;:] …$")  # one sentence over the comments of several fields


def check(path, text):
    """(path, line, text) of each finding."""
    for line, comment in cpp_source.comment_blocks(text):
        found = BEGINS_A_BLOCK.match(comment) or BEGINS_A_SENTENCE.search(comment)
        if found:
            yield path, line, f"no comment begins with '{found.group(1)}': {plain_english.ADVICE}"
        if phrase := plain_english.BAD_PHRASES.search(comment):
            yield path, line, f"'{phrase.group(1)}': say it plainly"
        if IS_CHAINED.search(comment):
            yield path, line, "a sentence goes on in another comment: write one for each"


def check_all(texts, room_of):
    """Findings in the rooms that are clean."""
    for path, text in texts.items():
        if room_of(path) not in ROOMS_STILL_TO_CLEAN:
            yield from check(path, text)


def check_list(texts, room_of):
    """Rooms that are clean and still on the list."""
    unclean = {room_of(path) for path, text in texts.items() if any(check(path, text))}
    for room in ROOMS_STILL_TO_CLEAN:
        if room not in unclean:
            yield PATH, 1, f"the comments of {room} are clean: take it off ROOMS_STILL_TO_CLEAN"
