#!/usr/bin/env python3
"""docs/protocol.md, made from the headers of the four contracts: the comments above and beside the messages' fields, and
the descriptions of the fields (*_fields.h), which name their bounds.

tidy.py reports a page that is out of date; this program writes it.
"""

import re
import textwrap
from pathlib import Path

PAGE = "docs/protocol.md"
COMMAND = "python3 tests/tidy/protocol_page.py"
# In the order in which a reader wants them.
CHAPTERS = [
    ("shared/protocol/limits.h", "Volunteers and the coordinator"),
    ("shared/protocol/names.h", "Names"),
    ("shared/protocol/states.h", "States of members and runs"),
    ("shared/protocol/heartbeat.h", "Heartbeats"),
    ("shared/protocol/heartbeat_reply.h", "Answers to heartbeats"),
    ("shared/protocol/compute_device.h", "Devices that compute"),
    ("shared/protocol/round_report.h", "Reports of rounds"),
    ("shared/protocol/audit.h", "Audits of members' work"),
    ("shared/protocol/checked_work.h", "Findings about members' work"),
    ("shared/protocol/sample_lease.h", "Leases of samples"),
    ("shared/protocol/checkpoint.h", "Copies of the state"),
    ("shared/protocol/join.h", "Joining"),
    ("shared/protocol/error_reply.h", "Refusals"),
    ("shared/protocol/group_info.h", "The plan of a round"),
    ("shared/base/peer_signature.h", "Signatures of volunteers"),
    ("shared/wire/frames.h", "Volunteers among themselves"),
    ("shared/wire/calls.h", "Calls to experts"),
    ("shared/wire/codec.h", "How numbers travel"),
    ("shared/wire/limits.h", "Shared limits"),
    ("shared/run/moments.h", "How a state travels"),
    ("shared/run/low_rank.h", "Low-rank rounds"),
    ("shared/run/run_manifest.h", "The description of a run"),
    ("shared/run/round_options.h", "Its rounds"),
    ("shared/run/number_forms.h", "Its numbers"),
    ("shared/run/data_options.h", "Its data"),
    ("shared/run/optimizer_options.h", "Its optimizer and schedule"),
    ("shared/run/training_data.h", "Its samples"),
    ("shared/run/epochs.h", "Its epochs"),
    ("shared/protocol/unusable_samples.h", "Samples without a gradient"),
    ("shared/protocol/team.h", "Teams"),
    ("shared/control/control.h", "A daemon and its window"),
    ("shared/control/control_views.h", "The window's views"),
    ("shared/leaderboard/columns.h", "The leaderboard's columns"),
    ("shared/control/preferences.h", "A volunteer's preferences"),
    ("shared/protocol/release_feed.h", "Newer versions"),
    ("shared/protocol/message_fields.h", "Bounds of messages and plans"),
    ("shared/run/manifest_fields.h", "Bounds of the description of a run"),
    ("shared/control/control_fields.h", "Bounds between a daemon and its window"),
]
DESCRIPTIONS = ["shared/protocol/message_fields.h", "shared/protocol/compute_device_fields.h", "shared/protocol/checked_work_fields.h", "shared/control/control_fields.h", "shared/run/manifest_fields.h"]
INTRODUCTION = """# The protocol

Everything that Starling's programs say to each other is declared in five folders, with its limits: [`shared/wire`](../shared/wire)
(how bytes look), [`shared/run`](../shared/run) (what is trained), [`shared/protocol`](../shared/protocol) (volunteers and the
coordinator), [`shared/control`](../shared/control) (a daemon and its window) and [`shared/leaderboard`](../shared/leaderboard)
(a leaderboard's columns). Nothing is said that does not stand there.
This page is made from those headers by
`python3 tests/tidy/protocol_page.py`, and a test fails when it is not current. JSON between programs and the coordinator,
CBOR and raw numbers between volunteers; all of it inside TLS 1.3, but for the daemon's own Unix socket.
"""


def arguments(text):
    """The arguments of a call, from its text between the parentheses."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "({[") - (letter in ")}]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def bounds_text(rules, named):
    """A field's rules in words; `named` has the values of those that have a name."""
    words = []
    for rule in rules:
        rule = named.get(rule, rule)
        made = re.match(r"^(\w+)(?:<[\w:]+>)?\{(.*)\}$", rule)
        inside = arguments(made.group(2)) if made else []
        if made and made.group(1) in ("Whole", "Real", "SettingRange"):
            words.append(f"`{inside[0]}` … `{inside[1]}`")
        elif made and made.group(1) == "Text":
            words.append(f"at most `{inside[0]}` bytes")
        elif made and made.group(1) in ("Items", "FirstItems"):
            words.append(f"at most `{inside[0]}` items")
        elif made and made.group(1) == "PackedFloats":
            words.append(f"at most `{inside[0]}` floats, base64")
        elif rule == "kLater":
            words.append("missing from older programs")
        elif rule == "kLeftOutIfUnset":
            words.append("left out if unset")
        elif rule == "kNullIfUnset":
            words.append("null if unset")
        elif rule.startswith("left_out_if("):
            words.append(f"left out if `{rule[len('left_out_if('):-1]}`")
    return "; ".join(words)


def descriptions(root):
    """{struct: [(name in the text, path of the member, bounds)]} from the headers that describe fields."""
    found, named = {}, {}
    for header in DESCRIPTIONS:
        text = (root / header).read_text()
        for kind, name, value in re.findall(r"^constexpr (Whole|Real|Text|SettingRange<[\w:]+>) (k\w+)\{(.*)\};", text, re.M):
            named[name] = f"{kind}{{{value}}}"
        for struct, variable, body in re.findall(
                r"void each_field\(Visitor& visit, Seen<Visitor, ([\w:]+)>& (\w+)\) \{\n(.*?)^\}", text, re.S | re.M):
            for call in re.findall(r"visit\((\"\w+\",.*?)\);", body, re.S):
                name, path, *rules = arguments(" ".join(call.split()))
                found.setdefault(struct, []).append(
                    (name.strip('"'), path.removeprefix(variable + "."), bounds_text(rules, named)))
    return found


def comment_of(lines):
    return [line.strip()[2:].removeprefix(" ").rstrip() for line in lines]


def split_field(line):
    """A line of code and the comment behind it."""
    code, mark, comment = line.partition("//")
    return code.strip(), comment.strip() if mark else ""


def cell(text):
    return text.replace("|", "\\|").strip()


def code_cell(text):
    return f"`{cell(text)}`" if text else ""


def read_field(code):
    """(type, name, default) of a data member; nothing for anything else."""
    if "(" in code.split("=")[0] or not code.endswith(";"):
        return None
    declared, _, default = code[:-1].partition("=")
    declared = declared.replace("{}", "").strip()
    words = re.match(r"^(.*[\s>&*])([a-z_0-9]+)(?:\{(.*)\})?$", declared)
    if not words or words.group(1).split()[0] in ("return", "using", "friend", "static", "explicit"):
        return None
    return words.group(1).strip(), words.group(2), default.strip() or (words.group(3) or "")


def struct_rows(body):
    """[(type, name, default, meaning)] from the lines between a struct's braces."""
    rows, above, depth = [], [], 0
    for line in body:
        code, comment = split_field(line)
        if not code and comment:
            if rows and not above and line.index("//") > 8:  # continues the comment beside the field above
                rows[-1][3] += " " + comment
            else:
                above.append(comment)
            continue
        if depth == 0:
            field = read_field(code)
            if field:
                rows.append([*field, " ".join([*above, comment]).strip()])
        depth += code.count("{") - code.count("}")
        above = []
    return rows


def enum_values(body):
    values = []
    for line in body:
        code, comment = split_field(line)
        for value in filter(None, (part.strip() for part in code.split(","))):
            values.append((value, comment))
    return values


def table(head, rows):
    if not rows:
        return []
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head),
            *("| " + " | ".join(row) + " |" for row in rows), ""]


def declarations(lines):
    """(kind, name, comment above, body lines) of everything declared at the outermost level, and one-line constants."""
    above, index = [], 0
    while index < len(lines):
        line = lines[index]
        index += 1
        if line.startswith("//"):
            above.append(line)
            continue
        opened = re.match(r"^(struct|enum class) (\w+)[^;]*\{(.*)$", line)
        if opened and not opened.group(3).rstrip().endswith("};"):
            end = next(i for i in range(index, len(lines)) if lines[i].startswith("}"))
            yield opened.group(1), opened.group(2), comment_of(above), lines[index:end]
            index = end + 1
        elif opened:
            inside = opened.group(3).rpartition("};")[0]
            yield opened.group(1), opened.group(2), comment_of(above), [part + ";" for part in inside.split(";") if part.strip()] \
                if opened.group(1) == "struct" else [inside]
        elif line.startswith("constexpr "):
            yield "constant", line, comment_of(above), []
        above = []


def constant_row(line, above):
    code, comment = split_field(line)
    found = re.match(r"^constexpr\s+[\w:<>\s]+?\s(k\w+)\s*(?:=\s*|\{)(.*?)\}?;$", code)
    return [code_cell(found.group(1)), code_cell(found.group(2)), cell(" ".join([*above, comment]))] if found else None


def described(rows, fields):
    """The struct's rows with the fields' names in the text and their bounds."""
    by_path = {path: (name, bounds) for name, path, bounds in fields}
    out = []
    for declared, member, default, meaning in rows:
        name, bounds = by_path.get(member, (member, ""))
        shown = code_cell(member) + (f" ({code_cell(name)})" if name != member else "")
        out.append([shown, code_cell(declared), code_cell(default), cell(bounds), cell(meaning)])
    return out


def flattened(structs, fields):
    """Adds to `fields` those that a struct describes for its members: their own fields stand beside its others."""
    for struct, rows in structs.items():
        types = {member: declared for declared, member, _, _ in rows}
        for name, path, bounds in fields.get(struct, []):
            owner, dot, rest = path.partition(".")
            if dot and owner in types:
                fields.setdefault(types[owner], []).append((name, rest, bounds))


def chapter(root, name, title, fields):
    lines = (root / name).read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if not line.startswith("//"))
    out = [f"## {title}", "", f"[`{name}`](../{name})", "", "```", *comment_of(lines[:start]), "```", ""]
    constants, parts = [], []
    declared = list(declarations(lines[start:]))
    flattened({what: struct_rows(body) for kind, what, _, body in declared if kind == "struct"}, fields)
    for kind, what, above, body in declared:
        if kind == "constant":
            row = constant_row(what, above)
            if row:
                constants.append(row)
            continue
        parts += [f"### {what}", ""]
        parts += [*textwrap.wrap(" ".join(above), 120, break_long_words=False, break_on_hyphens=False), ""] if above else []
        if kind == "struct":
            rows = described(struct_rows(body), fields.get(what, []))
            if any(row[3] for row in rows):
                parts += table(["field", "type", "default", "bounds", ""], rows)
            else:
                parts += table(["field", "type", "default", ""], [[*row[:3], row[4]] for row in rows])
        else:
            parts += table(["value", ""], [[code_cell(v), cell(c)] for v, c in enum_values(body)])
    out += table(["limit", "value", ""], constants)
    return out + parts


def page(root):
    out = [INTRODUCTION]
    out += [f"- [{title}](#{title.lower().replace(' ', '-').replace(chr(39), '')})" for _, title in CHAPTERS] + [""]
    fields = descriptions(root)
    for name, title in CHAPTERS:
        out += chapter(root, name, title, fields)
    return "\n".join(line.rstrip() for line in "\n".join(out).splitlines()).rstrip() + "\n"


def is_current(root):
    return (root / PAGE).read_text() == page(root)


def main():
    root = Path(__file__).resolve().parents[2]
    (root / PAGE).write_text(page(root))


if __name__ == "__main__":
    main()
