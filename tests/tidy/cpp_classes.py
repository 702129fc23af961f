"""Counts what classes are made of. Like cpp_source.py: no parser, and no false alarm on this tree."""

import re
from dataclasses import dataclass

import cpp_source

_HEAD = re.compile(r"\b(class|struct|union)\s+(?:alignas\s*\([^)]*\)\s*)?(?:\[\[[^\]]*\]\]\s*)?([\w:]+)(?:\s+final)?\s*(?::(?!:)[^;{()]*)?$")
_ENUM = re.compile(r"\benum\b")
_NO_MEMBER = re.compile(r"^(using|typedef|friend|static_assert|template\s*<[^;]*>\s*(class|struct|friend)|static\s+constexpr|constexpr\s+static|enum\b)")
_ACCESS = re.compile(r"^\s*(?:(?:public|private|protected|signals|Q_SIGNALS|(?:public|private|protected)\s+slots)\s*:(?!:)\s*)+")
_MACRO = re.compile(r"^\s*Q_\w+(?:\([^)]*\))?\s*")


@dataclass
class Class:
    line: int
    name: str  # with the classes around it
    data: int  # data members of its own, without those of nested classes
    methods: int


def _flat(statement):
    """The statement without what stands in angle brackets, which may hold parentheses: std::function<void(int)>."""
    previous = None
    statement = statement.replace("->", "  ").replace("<=>", "   ").replace("<<", "  ").replace(">>=", "   ")
    while statement != previous:
        previous, statement = statement, re.sub(r"<[^<>;]*>", "", statement)
    return statement


def _is_method(statement):
    flat = _flat(statement)
    opening = flat.find("(")
    if opening < 0:
        return False
    before = flat[:opening]
    if re.search(r"\boperator\b", before):
        return True
    # `int a = f();` and `int a{f()};` are data.
    return "=" not in before and "{" not in before and re.search(r"[~\w]\s*$", before) is not None \
        and not re.search(r"\balignas\s*$", before)


def _data_count(statement):
    """`int a, b;` are two."""
    flat = re.sub(r"\{[^{}]*\}|\([^()]*\)", "", _flat(statement))
    return flat.count(",") + 1


def _body(code, start, end, around, found, line_of):
    """Counts the members between the braces, and steps into nested classes."""
    data = methods = 0
    at = statement_start = start
    boundary = re.compile(r"[;{}(]")
    while (match := boundary.search(code, at, end)) is not None:
        at, mark = match.end(), match.group(0)
        if mark == "(":
            at = cpp_source._closing(code, match.start())
            continue
        head = _MACRO.sub("", _ACCESS.sub("", code[statement_start:match.start()]).strip())
        head = _ACCESS.sub("", head).strip()
        if mark == ";":
            statement, statement_start = head, at
            if not statement or _NO_MEMBER.match(statement) or re.match(r"^(class|struct|union)\s+\w+$", statement):
                continue
            if re.match(r"^\}?\s*\w+$", statement):
                continue
            if _is_method(statement):
                methods += 1
            else:
                data += _data_count(statement)
            continue
        closing = cpp_source._closing(code, match.start())
        nested = _HEAD.search(head)
        if nested and not _ENUM.search(head):
            _class(code, match.start(), closing, nested.group(2), around, found, line_of, code[statement_start:match.start()])
            at = closing
            # `struct { … } name;` and `struct Name { … } name;` declare a member as well.
            tail = re.compile(r"\s*(\w+[^;]*)?;").match(code, closing)
            if tail:
                data += 1 if tail.group(1) else 0
                at = tail.end()
            statement_start = at
        elif _ENUM.search(head):
            at = closing
        elif _is_method(head) and not re.search(r":\s*[\w:<>, ]*$", _flat(head).rsplit(")", 1)[-1]):
            methods += 1
            at = statement_start = closing
        else:
            at = closing  # a braced value: the statement goes on to its semicolon
            if _is_method(head) and not re.compile(r"\s*[,{]").match(code, closing) and not re.compile(r"\s*;").match(code, closing):
                methods += 1
                statement_start = closing
            elif _is_method(head) and re.compile(r"\s*\{").match(code, closing):
                at = statement_start = cpp_source._closing(code, code.index("{", closing))
                methods += 1
    return data, methods


def _class(code, opening, closing, name, around, found, line_of, head):
    entry = Class(line_of(opening - len(head) + len(head) - len(head.lstrip())), f"{around}{name}", 0, 0)
    found.append(entry)
    entry.data, entry.methods = _body(code, opening + 1, closing - 1, f"{entry.name}::", found, line_of)


def classes(text):
    """Every class and struct of the file, nested ones as well."""
    code = cpp_source._DIRECTIVE.sub(lambda m: cpp_source._blank(m.group(0)), cpp_source.without_comments(text))
    found, at, head_start = [], 0, 0
    line_of = lambda index: code.count("\n", 0, index) + 1
    boundary = re.compile(r"[;{}(]")
    while match := boundary.search(code, at):
        at, mark = match.end(), match.group(0)
        if mark == "(":
            at = cpp_source._closing(code, match.start())
            continue
        if mark != "{":
            head_start = at
            continue
        head = code[head_start:match.start()]
        if re.search(r"\bnamespace\b|\bextern\b", head) and not _HEAD.search(head.strip()):
            head_start = at
            continue
        closing = cpp_source._closing(code, match.start())
        nested = _HEAD.search(head.strip())
        if nested and not _ENUM.search(head):
            _class(code, match.start(), closing, nested.group(2), "", found, line_of, head)
        at = head_start = closing
    return found
