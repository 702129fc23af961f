"""Counts the data members and the methods of every class and struct, as far as the text of its body shows them: nested
types count for themselves, constants and aliases for nothing."""

import re
from dataclasses import dataclass

import cpp_source

_CLASS = re.compile(r"(?<!enum )\b(class|struct|union)\s+(?:\[\[[^\]]*\]\]\s*)?(?P<name>[A-Za-z_][\w:]*)?\s*(?:final\s*)?"
                    r"(?::(?!:)[^;{}()]*)?\{")
_LABEL = re.compile(r"\b(?:public|private|protected|signals|Q_SIGNALS)(?:\s+(?:slots|Q_SLOTS))?\s*:(?!:)")
_TYPE = re.compile(r"^(?:template\b.*\b)?(class|struct|union|enum)\b")
_NO_MEMBER = re.compile(r"^(using|typedef|friend|static_assert|class|struct|union|enum|Q_\w+)\b")
_CONSTANT = re.compile(r"\b(static\s+(inline\s+)?const(expr)?|(inline\s+)?constexpr\s+static|static\s+inline\s+const)\b")
_MACRO = re.compile(r"\b(?:[A-Z][A-Z_]{2,}|alignas|decltype|noexcept|explicit)\s*\(\)")


@dataclass
class ClassSize:
    line: int
    name: str
    data: int = 0
    methods: int = 0


def _plain(statement):
    """The statement without attributes, macros, template parameters and arguments."""
    text = re.sub(r"\[\[.*?\]\]", " ", statement)
    text = re.sub(r"operator\s*[^\s\w(]+", "operator_", text).replace("->", "  ")
    previous = None
    while text != previous:
        previous, text = text, re.sub(r"<[^<>]*>", " ", text)
    text = re.sub(r"^\s*template\b(\s*requires\b[^;{]*?(?=\s(?:static|void|auto|bool)\b))?", " ", text)
    return _MACRO.sub(" ", text).strip()


def _count(size, statement):
    text = _plain(statement)
    if not text or _NO_MEMBER.match(text):
        return
    if "(" in text.split("=")[0]:
        size.methods += 1
    elif not _CONSTANT.search(text):
        size.data += 1 + text.count(",")


def _members(size, code):
    """Counts what stands in a class's body, whose nested brackets are passed over."""
    statement, at = "", 0
    boundary = re.compile(r"[;{(\[]|" + _LABEL.pattern)
    while match := boundary.search(code, at):
        statement += code[at : match.start()]
        mark, at = match.group(0), match.end()
        if mark == ";":
            _count(size, statement)
            statement = ""
        elif mark in "({[":
            at = cpp_source.closing(code, match.start())
            if mark == "[":
                statement += code[match.start() : at]
            elif mark == "(":
                statement += "()"
            elif _ends_function(statement):
                _count(size, statement)
                statement = ""
            else:
                # A nested type with a name behind it is a member, too; a braced value belongs to its statement.
                statement = "nested" if _TYPE.match(_plain(statement)) else statement + "{}"
        else:
            statement = ""
        if statement == "nested":
            end = code.find(";", at)
            declared = code[at:end].strip()
            size.data += 1 if declared else 0
            statement, at = "", end + 1


def _ends_function(statement):
    """Whether a '{' behind this text opens a function's body."""
    text = _plain(statement)
    if "(" not in text.split("=")[0]:
        return False
    tail = text[text.index("()") + 2 :]
    return not (re.match(r"[^{]*?:(?!:)", tail) and re.search(r"[\w>]\s*$", tail))


def classes(text):
    code = cpp_source.without_directives(text)
    found = []
    for match in _CLASS.finditer(code):
        end = cpp_source.closing(code, match.end() - 1)
        size = ClassSize(code.count("\n", 0, match.start()) + 1, match.group("name") or "(unnamed)")
        _members(size, code[match.end() : end - 1])
        found.append(size)
    return found
