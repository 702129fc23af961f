"""Counts what classes are made of. Like cpp_source.py: no parser, and no false alarm on this tree."""

import re
from dataclasses import dataclass

import cpp_source

_HEAD = re.compile(
    r"\b(?P<kind>enum(?:\s+(?:class|struct))?|class|struct|union)\s+(?:alignas\s*\([^)]*\)\s*)?(?:\[\[[^\]]*\]\]\s*)?"
    r"(?:[A-Z][A-Z_]+(?:\([^)]*\))?\s+)?(?P<name>[\w:]+)(?:<[^;{}]*>)?(?:\s+final)?\s*(?::(?!:)[^;{()]*)?$"
)
_NAMESPACE = re.compile(r"\bnamespace\b|\bextern\b")
_BOUNDARY = re.compile(r"[;{}(]")
# Statements that declare neither data nor a method of the object.
_NO_MEMBER = re.compile(r"(template\s*<.*>\s*)?(using|typedef|friend|static_assert|public|private|protected)\b")
_NO_DATA = re.compile(
    r"(inline\s+)?static\s+(inline\s+)?const(expr)?\b|constexpr\s+static\b|enum\b[^{}]*$"
    r"|(template\s*<.*>\s*)?(class|struct|union)\s+[\w:]+$"
)
_TYPE = re.compile(r"(template\s*<.*>\s*)?(class|struct|union|enum)\b[^{}]*\{\}\s*(?P<members>.*)$")
_PREFIX = re.compile(
    r"(?:\s*(?:(?:public|private|protected)(?:\s+(?:slots|Q_SLOTS))?|signals|Q_SIGNALS)\s*:(?!:)"
    r"|\s*Q_[A-Z_]+(?:\([^)]*\))?|\s*\[\[[^\]]*\]\])*\s*"
)
_ANNOTATION = re.compile(r"(?<=[\w>)\]] )[A-Z]+_[A-Z_]+\([^()]*\)")  # GUARDED_BY(mutex_)


@dataclass
class Class:
    line: int  # where its declaration begins, its template<> as well
    opening: int  # the line of its brace
    kind: str  # class, struct, union, enum, or enum class
    name: str  # with the classes around it
    nested: bool
    data: int = 0  # data members of its own, without those of nested classes
    methods: int = 0


def _flat(statement):
    """The statement without what stands in angle brackets, which may hold parentheses: std::function<void(int)>."""
    previous = None
    for operator in ("->", "<=>", "<<", ">>=", "<=", ">="):
        statement = statement.replace(operator, "@" * len(operator))
    while statement != previous:
        previous, statement = statement, re.sub(r"<[^<>;]*>", "", statement)
    return _ANNOTATION.sub("", " ".join(statement.split()))


def _parameters_at(flat):
    """Where the parameter list of a method opens, or -1 for data."""
    opening = flat.find("(")
    if opening < 0:
        return -1
    before = flat[:opening]
    if re.search(r"\boperator\b", before):
        return flat.find("(", opening + 1) if re.search(r"\boperator\s*$", before) else opening
    if re.match(r"\(\s*(\w+::)*[*&]", flat[opening:]):  # a pointer to a function
        return -1
    # `int a = f();` and `int a{f()};` are data.
    named = "=" not in before and "{" not in before and re.search(r"[~\w]\s*$", before)
    return opening if named and not re.search(r"\balignas\s*$", before) else -1


def _opens_body(head):
    """Whether the brace after this text opens the body of a function: otherwise it opens a value."""
    flat = _flat(head)
    opening = _parameters_at(flat)
    return opening >= 0 and not cpp_source._is_member_brace(flat[cpp_source._closing(flat, opening):])


def _data_count(statement):
    """`int a, b;` are two."""
    flat, previous = _flat(statement), None
    while flat != previous:
        previous, flat = flat, re.sub(r"\([^(){}]*\)|\{[^{}()]*\}|\[[^\[\]]*\]", "", flat)
    return flat.count(",") + 1


def _count(owner, statement):
    if not statement or _NO_MEMBER.match(statement):
        return
    if declared := _TYPE.match(statement):  # `struct { … } name;` declares a member as well
        owner.data += _data_count(declared.group("members")) if declared.group("members") else 0
    elif _parameters_at(_flat(statement)) >= 0:
        owner.methods += 1
    elif not _NO_DATA.match(statement):
        owner.data += _data_count(statement)


class _Reader:
    def __init__(self, text):
        self.code = cpp_source._DIRECTIVE.sub(lambda m: cpp_source._blank(m.group(0)), cpp_source.without_comments(text))
        self.found = []

    def line_of(self, index):
        return self.code.count("\n", 0, index) + 1

    def read(self, start, end, owner):
        """Reads the statements of a class, or of namespaces, and steps into the classes that they declare."""
        at = begin = piece = start
        kept = ""  # the statement up to `piece`, without what its braces hold
        while match := _BOUNDARY.search(self.code, at, end):
            mark, opening, at = match.group(0), match.start(), match.end()
            if mark == "(":
                at = cpp_source._closing(self.code, opening)
                continue
            head = kept + self.code[piece:opening]
            head = head[_PREFIX.match(head).end():].strip()
            is_type = _HEAD.search(head) if mark == "{" else None
            if mark == "{" and (is_type or owner or not _NAMESPACE.search(head)):
                at = cpp_source._closing(self.code, opening)
                if is_type:
                    self.step_into(is_type, (begin, opening, at), owner)
                elif _opens_body(head):
                    if owner and not _NO_MEMBER.match(head):
                        owner.methods += 1
                    begin, piece, kept = at, at, ""
                    continue
                kept, piece = kept + self.code[piece:opening] + "{}", at
                continue
            if mark == ";" and owner:
                _count(owner, head)
            begin, piece, kept = at, at, ""

    def step_into(self, head, places, owner):
        begin, opening, closing = places
        first = _PREFIX.match(self.code, begin).end()
        name = f"{owner.name}::{head.group('name')}" if owner else head.group("name")
        entry = Class(self.line_of(first), self.line_of(opening), head.group("kind"), name, owner is not None)
        self.found.append(entry)
        if not entry.kind.startswith("enum"):
            self.read(opening + 1, closing - 1, entry)


def classes(text):
    """Every class, struct, union and enumeration of the file, nested ones as well."""
    reader = _Reader(text)
    reader.read(0, len(reader.code), None)
    return reader.found
