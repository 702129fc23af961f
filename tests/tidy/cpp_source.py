"""Reads C++ just well enough to know its includes and its functions: no parser, and no false alarm on this tree."""

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r'R"(?P<delim>[^(\s]*)\((?:.|\n)*?\)(?P=delim)"'  # raw string
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-zA-Z_])'(?:\\.|[^'\\\n])+'"  # a quote after a digit separates digits
    r"|//[^\n]*|/\*(?:.|\n)*?\*/"
)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", re.MULTILINE)
_SCOPE = re.compile(r"\b(namespace|class|struct|union|enum)\b|\bextern\b")
_NOT_A_NAME = {"decltype", "alignas", "explicit", "noexcept", "requires", "__attribute__", "declspec", "if", "while"}


@dataclass
class Include:
    line: int
    path: str
    quoted: bool


@dataclass
class Function:
    line: int
    name: str
    lines: int
    parameters: int


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def without_comments(text):
    """The text with comments, and the insides of strings and characters, made blank; every line stays where it is."""

    def replace(match):
        token = match.group(0)
        if token.startswith("/"):
            return _blank(token)
        return '"' + _blank(token[1:-1]) + '"' if len(token) > 1 else token

    return _TOKEN.sub(replace, text)


def with_strings(text):
    """The text with comments made blank, and strings as they are."""
    return _TOKEN.sub(lambda m: _blank(m.group(0)) if m.group(0).startswith("/") else m.group(0), text)


def comment_blocks(text):
    """(line, text) of each // comment; lines of comments that stand beneath each other are one block."""
    blocks, lines = [], text.split("\n")
    for match in _TOKEN.finditer(text):
        if not match.group(0).startswith("//"):
            continue
        line = text.count("\n", 0, match.start()) + 1
        column = match.start() - text.rfind("\n", 0, match.start()) - 1
        content = match.group(0).lstrip("/").strip()
        alone = not lines[line - 1][:column].strip()
        if alone and blocks and blocks[-1][1:3] == [line - 1, column]:
            blocks[-1][1] = line
            blocks[-1][3] += " " + content
        else:
            blocks.append([line, line, column, content])
    return [(first, content) for first, _, _, content in blocks]


def comment_lines(text):
    """The column of each line's comment where it stands alone, else None; words to a tool are no comment."""
    found = {}
    for match in _TOKEN.finditer(text):
        if not match.group(0).startswith("/") or re.match(r"//\s*(NOLINT|clang-format)", match.group(0)):
            continue
        line, start = text.count("\n", 0, match.start()) + 1, text.rfind("\n", 0, match.start()) + 1
        before = text[start : match.start()]
        column = None if before.strip() else len(before)
        for further in range(match.group(0).count("\n") + 1):
            found[line + further] = column
    return found


def has_leading_comment(text):
    """Whether a comment stands above all code, directives apart."""
    comment = min(comment_lines(text), default=None)
    code = _DIRECTIVE.sub(lambda m: _blank(m.group(0)), without_comments(text))
    return comment is not None and not "".join(code.split("\n")[: comment - 1]).strip()


def includes(text):
    kept = with_strings(text)
    return [Include(text.count("\n", 0, m.start()) + 1, m.group(2), m.group(1) == '"') for m in _INCLUDE.finditer(kept)]


def _closing(code, start):
    """The index just past the bracket that closes the one at `start`."""
    pairs = {"(": ")", "{": "}", "[": "]"}
    depth, opening, closing = 0, code[start], pairs[code[start]]
    for match in re.compile(re.escape(opening) + "|" + re.escape(closing)).finditer(code, start):
        depth += 1 if match.group(0) == opening else -1
        if depth == 0:
            return match.end()
    return len(code)


def _parameter_list(head):
    """(name, text between the parentheses, text after them) of the function whose head this is, or None."""
    for match in re.finditer(r"(operator\s*\(\s*\)|operator\s*[^\s\w(]+|[~\w]+)\s*\(", head):
        name = match.group(1)
        if name in _NOT_A_NAME:
            continue
        opening = match.end() - 1
        return name, head[opening + 1 : _closing(head, opening) - 1], head[_closing(head, opening) :]
    return None


def _count_parameters(text):
    if text.strip() in ("", "void"):
        return 0
    depth, count = 0, 1
    for char in text.replace("->", "  "):
        depth += (char in "(<[{") - (char in ")>]}")
        count += char == "," and depth == 0
    return count


def _is_member_brace(tail):
    """Whether a '{' after this text opens a value in a constructor's initializer list: `: size_` or `, Base<T>`."""
    return re.match(r"\s*(noexcept\s*)?:(?!:)", tail) is not None and re.search(r"[\w>]\s*$", tail) is not None


def _is_value(head):
    """Whether an '=' outside of parentheses and angle brackets shows that the head begins a value, not a function."""
    previous = None
    while head != previous:
        previous, head = head, re.sub(r"\([^()]*\)|<[^<>]*>", " ", head)
    return re.search(r"=", re.sub(r"operator\s*[=<>!+*/%&|^-]+", " ", head)) is not None


def functions(text):
    """Every function defined at namespace or class scope; a lambda belongs to the function around it."""
    code = _DIRECTIVE.sub(lambda m: _blank(m.group(0)), without_comments(text))
    found, head_start, at = [], 0, 0
    boundary = re.compile(r"[;{}(]|(?:public|private|protected)\s*:")
    while match := boundary.search(code, at):
        at, mark = match.end(), match.group(0)
        if mark == "(":
            at = _closing(code, match.start())
            continue
        if mark != "{":
            head_start = at
            continue
        head = code[head_start : match.start()]
        function = _parameter_list(head)
        if function is None and _SCOPE.search(head):
            head_start = at  # step into the namespace or class
        elif function is None or _is_value(head) or _is_member_brace(function[2]):
            at = _closing(code, match.start())  # a braced value; the statement continues
        else:
            at = _closing(code, match.start())
            first = head_start + len(head) - len(head.lstrip())
            line = code.count("\n", 0, first) + 1
            found.append(Function(line, function[0], code.count("\n", first, at) + 1, _count_parameters(function[1])))
            head_start = at
    return found
