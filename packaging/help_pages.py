#!/usr/bin/env python3
"""Manual pages, and completions for bash, zsh and fish, from the programs' own --help.

    help_pages.py --bin DIR --out DIR PROGRAM …

Writes OUT/PROGRAM.1, OUT/PROGRAM.bash, OUT/_PROGRAM (zsh) and OUT/PROGRAM.fish, so that none of them can know other
commands and options than the program. Dates come from SOURCE_DATE_EPOCH.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

HEADINGS = ("Positionals:", "Arguments:", "Options:", "Subcommands:")
HOME = "/~"  # programs pass over a home that is no absolute path
ENTRY_INDENT = "  "
SEE_ALSO = {
    "starling": ["starlingd(1)", "starling-tray(1)"],
    "starlingd": ["starling(1)", "starling-tray(1)"],
    "starling-tray": ["starling(1)", "starlingd(1)"],
    "starling-coordinator": ["starling(1)"],
}
FILES = {
    "~/.local/share/starling": ("starling", "starlingd", "starling-tray"),
    "/var/lib/starling": ("starlingd",),
    "/etc/default/starlingd": ("starlingd",),
    "/var/lib/starling-coordinator": ("starling-coordinator",),
    "/etc/default/starling-coordinator": ("starling-coordinator",),
}
FILES_ARE = {
    "~/.local/share/starling": "A user's identity, model, data and log, unless $STARLING_DATA_DIR or $XDG_DATA_HOME "
                               "says otherwise.",
    "/var/lib/starling": "The same of the system-wide daemon, starlingd.service.",
    "/etc/default/starlingd": "Options of the system-wide daemon.",
    "/var/lib/starling-coordinator": "Projects served by starling-coordinator@NAME.service, a directory each.",
    "/etc/default/starling-coordinator": "Options of all of them.",
}


@dataclass
class Entry:
    names: list  # an option's names with dashes; otherwise one name
    value: str  # description of its value in --help; empty: it has none
    help: str

    @property
    def choices(self):
        found = re.search(r"\{([^}]*)\}", self.value)
        return found.group(1).split(",") if found else []


@dataclass
class Command:
    words: list  # the program, then its subcommands
    about: str
    positionals: list = field(default_factory=list)
    options: list = field(default_factory=list)
    commands: list = field(default_factory=list)
    footer: list = field(default_factory=list)

    def walk(self):
        yield self
        for command in self.commands:
            yield from command.walk()


def entry_of(text):
    parts = re.split(r"\s{2,}", text, maxsplit=1)
    names, _, value = parts[0].partition(" ")
    value = re.sub(r"\s*\b(REQUIRED|Excludes: \S+|Needs: \S+)", "", value)
    return Entry(re.split(r",\s*", names.rstrip(",")), value.strip(), parts[1].strip() if len(parts) > 1 else "")


def join_short_names(line):
    """Qt writes "-h, --help"; a comma then a blank within the names."""
    return re.sub(r"^(  -\w), (--)", r"\1,\2", line)


def sections_of(text):
    """The text before the first heading, the entries below each, and the text after the last."""
    before, entries, after, heading = [], {name: [] for name in HEADINGS}, [], None
    for line in text.splitlines():
        if line in HEADINGS:
            heading = line
        elif heading is None:
            before.append(line)
        elif not line:
            heading = "" if heading else heading
            after.append(line)
        elif heading and line.startswith(ENTRY_INDENT):
            if line.startswith(" " * 10) and entries[heading]:
                entries[heading][-1] += ("" if "  " in entries[heading][-1].strip() else "  ") + " " + line.strip()
            else:
                entries[heading].append(join_short_names(line).strip())
        else:
            after.append(line)
    return before, entries, after


def read_command(folder, words, clean):
    # The defaults shown are those for an ordinary user, whatever computer it is built on.
    environment = {"HOME": HOME, "PATH": os.defpath, "LC_ALL": "C.UTF-8", "QT_QPA_PLATFORM": "offscreen"}
    shown = subprocess.run([folder / words[0], *words[1:], "--help"], capture_output=True, text=True, check=True,
                           env=environment)
    before, entries, after = sections_of(clean(shown.stdout.replace(HOME + "/", "~/")))
    about = next(line for line in before if line and not line.startswith("Usage:"))
    command = Command(words, about.partition(": ")[2] if len(words) == 1 else about)
    command.positionals = [entry_of(text) for text in entries["Positionals:"] + entries["Arguments:"]]
    command.options = [entry_of(text) for text in entries["Options:"]]
    command.footer = after
    for text in entries["Subcommands:"]:
        command.commands.append(read_command(folder, [*words, entry_of(text).names[0]], clean))
    return command


# Manual pages.

def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def tagged(name, value, text):
    shown = f" \\fI{roff(value)}\\fR" if value else ""
    return f".TP\n\\fB{roff(name)}\\fR{shown}\n{roff(text or 'See above.')}\n"


def man_options(command):
    own = [o for o in command.options if len(command.words) == 1 or "--help" not in o.names]
    return "".join(tagged(p.names[0], "", p.help) for p in command.positionals) + "".join(
        tagged(", ".join(o.names), o.value, o.help) for o in own)


def man_commands(program):
    text = ""
    for command in list(program.walk())[1:]:
        names = " ".join(p.names[0] for p in command.positionals)
        text += f".SS {roff(' '.join(command.words[1:]))} {roff(names)}\n{roff(command.about)}\n{man_options(command)}"
    return text


def man_page(program, version, date):
    name = program.words[0]
    text = (f'.TH {name.upper()} 1 "{date}" "Starling {version}" "Starling"\n.SH NAME\n{roff(name)} \\- '
            f"{roff(program.about)}\n.SH SYNOPSIS\n\\fB{roff(name)}\\fR [\\fIoptions\\fR]")
    text += " \\fIcommand\\fR …" if program.commands else "".join(
        f" [\\fI{roff(p.names[0])}\\fR]" for p in program.positionals)
    text += f"\n.SH OPTIONS\n{man_options(program)}"
    if program.commands:
        text += f".SH COMMANDS\n{man_commands(program)}"
    footer = "\n".join(program.footer).strip()
    if footer:
        text += f".SH NOTES\n.nf\n{roff(footer)}\n.fi\n"
    text += ".SH FILES\n" + "".join(tagged(file, "", FILES_ARE[file]) for file, of in FILES.items() if name in of)
    return text + ".SH SEE ALSO\n" + ", ".join(f"\\fB{roff(s)}\\fR" for s in SEE_ALSO[name]) + "\n"


# Completions. Each shell first finds the command on the line, then offers the entries of that command.

def path_of(command):
    return " ".join(command.words[1:])


def paths(program):
    return [path_of(c) for c in program.walk() if path_of(c)]


def options_of(program, command):
    own = [name for o in command.options for name in o.names]
    inherited = [n for o in program.options for n in o.names if n.startswith("--") and n not in ("--help", "--version")]
    return own + [n for n in inherited if n not in own] if program.commands else own


def offers(program, command):
    positional = [choice for p in command.positionals for choice in p.choices]
    return [c.words[-1] for c in command.commands] + positional, options_of(program, command)


def bash(program):
    name = program.words[0]
    function = "_" + name.replace("-", "_")
    known = " | ".join(f'"{p}"' for p in paths(program))
    follow = f'    case "${{path:+$path }}$word" in {known}) path="${{path:+$path }}$word" ;; esac\n' if known else "    :\n"
    text = (f"# {name}: completions for bash, made from its --help.\n{function}() {{\n"
            '  local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} path="" word\n'
            f'  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do\n{follow}  done\n  case "$path $previous" in\n')
    for command in program.walk():
        for option in command.options:
            if not option.value:
                continue
            pattern = " | ".join(f'"{path_of(command)} {n}"' for n in option.names)
            answer = f'COMPREPLY=($(compgen -W "{" ".join(option.choices)}" -- "$cur"))' if option.choices else "COMPREPLY=()"
            text += f"    {pattern}) {answer}; return ;;\n"
    text += '  esac\n  case "$path" in\n'
    for command in program.walk():
        words, options = offers(program, command)
        text += (f'    "{path_of(command)}") if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W "{" ".join(options)}" '
                 f'-- "$cur")); else COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$cur")); fi ;;\n')
    return text + f"  esac\n}}\ncomplete -o default -F {function} {name}\n"


def zsh_words(entries):
    return " ".join("'" + f"{n}:{t}".replace("'", "'\\''") + "'" for n, t in entries)


def zsh(program):
    name = program.words[0]
    function = "_" + name.replace("-", "_")
    known = "|".join(f"'{p}'" for p in paths(program))
    follow = f"    case \"${{path_so_far:+$path_so_far }}$word\" in ({known}) path_so_far+=\"${{path_so_far:+ }}$word\" ;; esac\n"
    text = (f"#compdef {name}\n# Made from its --help.\n{function}() {{\n  local path_so_far='' word\n"
            f"  local -a commands options\n  for word in ${{words[2,CURRENT-1]}}; do\n{follow if known else '    :'}\n"
            "  done\n  case \"$path_so_far\" in\n")
    for command in program.walk():
        words = [(c.words[-1], c.about) for c in command.commands]
        words += [(choice, p.help) for p in command.positionals for choice in p.choices]
        helps = {n: o.help for c in (program, command) for o in c.options for n in o.names}
        options = [(n, helps[n]) for n in options_of(program, command)]
        text += f"    '{path_of(command)}') commands=({zsh_words(words)}) options=({zsh_words(options)}) ;;\n"
    return text + ("  esac\n  (( $#commands )) && _describe command commands\n"
                   "  [[ ${words[CURRENT]} == -* ]] && _describe option options\n"
                   f"  (( $#commands )) || _files\n}}\n{function} \"$@\"\n")


def fish_quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish(program):
    name = program.words[0]
    function = f"__{name.replace('-', '_')}_at"
    text = (f"# {name}: completions for fish, made from its --help.\nfunction {function}\n  set -l path\n"
            f"  for word in (commandline -opc)[2..-1]\n    contains -- (string join ' ' $path $word) "
            f"{' '.join(fish_quoted(p) for p in paths(program)) or fish_quoted('')}; and set path $path $word\n  end\n"
            "  test (string join ' ' $path) = \"$argv\"\nend\n")
    for command in program.walk():
        here = f"complete -c {name} -n {fish_quoted(function + ' ' + path_of(command))}"
        for child in command.commands:
            text += f"{here} -f -a {child.words[-1]} -d {fish_quoted(child.about)}\n"
        for positional in command.positionals:
            for choice in positional.choices:
                text += f"{here} -f -a {choice} -d {fish_quoted(positional.help)}\n"
        for option in command.options:
            flags = " ".join(f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names)
            value = f" -x -a {fish_quoted(' '.join(option.choices))}" if option.choices else " -r" if option.value else ""
            text += f"{here} {flags}{value} -d {fish_quoted(option.help)}\n"
    return text


def completions(program, folder):
    """The completions by file name. A program that can write its own knows better."""
    name = program.words[0]
    files = {f"{name}.bash": bash, f"_{name}": zsh, f"{name}.fish": fish}
    if not any(command.words[-1] == "completion" for command in program.commands):
        return {file: made(program) for file, made in files.items()}
    return {file: subprocess.run([folder / name, "completion", made.__name__], capture_output=True, text=True,
                                 check=True).stdout for file, made in files.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=Path, required=True, help="where the programs are")
    parser.add_argument("--libexec", default="/usr/libexec/starling", help="where the trainer will be")
    parser.add_argument("--prefix", default="/usr", help="where the rest will be")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("programs", nargs="+")
    arguments = parser.parse_args()
    folder = arguments.bin.resolve()
    date = time.strftime("%Y-%m-%d", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))))
    arguments.out.mkdir(parents=True, exist_ok=True)

    def as_installed(text):
        """Replaces the paths of programs that were asked in the build folder by installed ones."""
        return text.replace(str(folder), arguments.libexec).replace(str(folder.parent), arguments.prefix)

    for name in arguments.programs:
        program = read_command(folder, [name], as_installed)
        if not program.options:
            sys.exit(f"help_pages.py: '{name} --help' lists no option; has its form changed?")
        (arguments.out / f"{name}.1").write_text(man_page(program, arguments.version, date))
        for file, text in completions(program, folder).items():
            (arguments.out / file).write_text(text)


if __name__ == "__main__":
    main()
