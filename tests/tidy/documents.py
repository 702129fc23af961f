"""Checks of README.md, CONTRIBUTING.md and docs/: widths, lengths, plain English, links, and that the index names every
page."""

import re
from pathlib import Path

from plain_english import ADVICE, BAD_BEGINNING, BAD_PHRASES

WIDTH_MAX = 140  # characters of a line of prose or code; a row of a table cannot be broken
WORDS_MAX = {"README.md": 1300, "docs/averaging.md": 1200}  # counted like `wc -w`
INDEX = "docs/index.md"
BEGINS_A_SENTENCE = re.compile(r"(?:(?<=[.!?]) |(?<=[.!?][*)]) |(?<=[.!?]\*\*) |\| )[*_(]*" + BAD_BEGINNING)
BEGINS_A_BLOCK = re.compile(r"\s*(?:#+ |[-*] |\d+\. |\| )?[*_(]*" + BAD_BEGINNING)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def pages(root):
    """Path and text of each document."""
    found = [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in found if path.exists()}


def prose(text):
    """(number, line, whether it begins a block) of the lines that are not code; inline code is one letter."""
    fenced, before = False, ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            starts = not before.strip() or before.startswith("#") or before.rstrip()[-1] in ".!?"
            starts = starts or re.match(r"\s*(#|[-*] |\d+\. |\|)", line)
            yield number, re.sub(r"`[^`]*`", "X", line), bool(starts)
        before = line


def check_width(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > WIDTH_MAX and not line.startswith("|"):
            yield path, number, f"{len(line)} characters; a line has at most {WIDTH_MAX}"
    words = len(text.split())
    if words > WORDS_MAX.get(path, words):
        yield path, 1, f"{words} words; this page has at most {WORDS_MAX[path]}"


def check_english(path, text):
    for number, line, starts in prose(text):
        found = (BEGINS_A_BLOCK.match(line) if starts else None) or BEGINS_A_SENTENCE.search(line)
        if found:
            yield path, number, f"nothing begins with '{found.group(1)}': {ADVICE}"
        if phrase := BAD_PHRASES.search(line):
            yield path, number, f"'{phrase.group(1)}': say it plainly"


def anchors(text):
    """GitHub's names of a page's headings."""
    times, fenced = {}, False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        if not fenced and (heading := re.match(r"#+ (.*)$", line)):
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)).lower()
            name = re.sub(r"[^\w\- ]", "", words).strip().replace(" ", "-")
            times[name] = times.get(name, -1) + 1
            yield f"{name}-{times[name]}" if times[name] else name


def links(text):
    """(number of the line, target) of each link in prose; its words may go over two lines."""
    lines = [""] * (text.count("\n") + 2)
    for number, line, _ in prose(text):
        lines[number] = line
    joined = "\n".join(lines)
    return [(joined.count("\n", 0, link.start()), link.group(1)) for link in LINK.finditer(joined)]


def check_links(root, path, texts):
    for number, link in links(texts[path]):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = ((root / path).parent / name).resolve() if name else (root / path).resolve()
        page = texts.get(target.relative_to(root.resolve()).as_posix()) if target.is_relative_to(root.resolve()) else None
        if not target.exists():
            yield path, number, f"the link to {link} leads nowhere"
        elif anchor and page is not None and anchor not in anchors(page):
            yield path, number, f"{link}: no such heading"


def check_index(texts):
    if INDEX not in texts:
        return
    named = {(Path(INDEX).parent / link).as_posix() for _, link in links(texts[INDEX])}
    for path in texts:
        if path.startswith("docs/") and path != INDEX and path not in named:
            yield INDEX, 1, f"it does not name {path}"


def check(root):
    """(path, line, text) of each finding."""
    texts = pages(root)
    for path, text in texts.items():
        yield from check_width(path, text)
        yield from check_english(path, text)
        yield from check_links(root, path, texts)
    yield from check_index(texts)
