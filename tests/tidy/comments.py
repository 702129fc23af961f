"""Checks that comments of C++ are plain English: what a block or a sentence begins with, and phrases."""

import re

import cpp_source
import plain_english

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
