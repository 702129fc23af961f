#!/usr/bin/env python3
"""Checks what a compiler does not: the arrows between folders, the doors of heavy libraries, sizes of
functions, classes and files, banned words; plain
English in comments; the documents; and that docs/protocol.md follows shared/wire, and the table of docs/averaging.md its
measurements.

    tidy.py [ROOT]      prints one line a finding, and fails if any is an error
"""

import ast
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import averaging_page
import class_sizes
import comments
import cpp_source
import documents
import house
import protocol_page

ROOTS = ["client", "coordinator", "shared", "db", "gui", "tests"]
STANDARD_HEADER = re.compile(r"^[a-z_]+$")
SYSTEM_HEADER = re.compile(
    r"^(sys|linux|netinet|arpa|net|asm|bits)/[\w/.-]+\.h$"
    r"|^(cxxabi|dirent|dlfcn|errno|execinfo|fcntl|grp|ifaddrs|limits|malloc|math|netdb|poll|pthread|pwd|sched|signal|spawn|"
    r"stddef|stdint|stdio|stdlib|string|syslog|termios|time|unistd|cpuid|immintrin|x86intrin|arm_neon|omp)\.h$"
)


@dataclass
class Finding:
    path: str
    line: int
    text: str
    soft: bool = False

    def __str__(self):
        return f"{self.path}:{self.line}: {'note: ' if self.soft else ''}{self.text}"


def folder_of(path):
    """The house folder of a source file: two levels, three below tests for the mirrored tree."""
    parts = Path(path).parts[:-1]
    if parts and parts[0] == "tests" and len(parts) > 2 and parts[1] in ROOTS:
        return "/".join(parts[:3])
    return "/".join(parts[:2])


def included_folder(path):
    return folder_of(path) if "/" in path else None


def check_arrows(path, text):
    folder = folder_of(path)
    allowed = house.allowed_folders(folder)
    if allowed is None:
        yield Finding(path, 1, f"the house (tests/tidy/house.py) knows no folder '{folder}'")
        return
    for include in cpp_source.includes(text):
        if not include.quoted:
            continue
        target = included_folder(include.path)
        if target is None or Path(include.path).parts[0] not in ROOTS:
            yield Finding(path, include.line, f'"{include.path}": write our own headers from the root of the tree')
        elif not house.covers(allowed, target):
            yield Finding(path, include.line, f"{folder} may not include {target} ({include.path})")


def door_of(header):
    return next((name for name, (pattern, _) in house.DOORS.items() if re.match(pattern, header)), None)


def needs_door(include):
    return not (include.quoted or STANDARD_HEADER.match(include.path) or SYSTEM_HEADER.match(include.path))


def check_doors(path, text):
    folder = folder_of(path)
    for include in filter(needs_door, cpp_source.includes(text)):
        door = door_of(include.path)
        if door is None:
            yield Finding(path, include.line, f"<{include.path}>: no door for this library in tests/tidy/house.py")
        elif not house.has_door(folder, door):
            yield Finding(path, include.line, f"{door} has its door in {', '.join(house.DOORS[door][1])}, not in {folder}")
        elif path.endswith(".h") and not house.covers(house.HEADER_DOORS.get(door, []), folder):
            yield Finding(path, include.line, f"a header may not pass {door} on to everybody: include it in a .cpp")


def check_hidden_doors(texts):
    """Libraries that arrive through a header of ours, over any number of headers."""
    includes = {path: cpp_source.includes(text) for path, text in texts.items()}
    handed_on = {}

    def doors_behind(header):
        if header not in handed_on:
            handed_on[header] = set()  # ends a circle
            own = {door_of(i.path) for i in includes.get(header, []) if needs_door(i)} - {None}
            handed_on[header] = own.union(*(doors_behind(i.path) for i in includes.get(header, []) if i.quoted))
        return handed_on[header]

    for path, found in includes.items():
        for include in found:
            for door in sorted(doors_behind(include.path) if include.quoted else ()):
                if not house.has_door(folder_of(path), door):
                    yield Finding(path, include.line, f"{include.path} brings {door} in, which has no door here")


def check_sizes(path, text):
    lines = text.count("\n")
    if lines > house.FILE_LINES_MAX:
        yield Finding(path, lines, f"{lines} lines; the wall is {house.FILE_LINES_MAX}")
    elif lines > house.FILE_LINES_SOFT:
        yield Finding(path, lines, f"{lines} lines; {house.FILE_LINES_SOFT} need a reason", soft=True)
    elif path.endswith(".h") and lines > house.HEADER_LINES_SOFT:
        yield Finding(path, lines, f"{lines} lines; a header aims at {house.HEADER_LINES_SOFT}", soft=True)


def check_functions(path, found):
    for function in found:
        if function.lines > house.FUNCTION_LINES_MAX:
            yield Finding(path, function.line,
                          f"{function.name}() has {function.lines} lines; the wall is {house.FUNCTION_LINES_MAX}")
        if function.parameters > house.PARAMETERS_MAX:
            yield Finding(path, function.line, f"{function.name}() has {function.parameters} parameters; "
                                               f"more than {house.PARAMETERS_MAX} make an options struct")


def check_classes(path, text):
    for each in class_sizes.classes(text):
        if each.data <= house.CLASS_DATA_MAX and each.methods <= house.CLASS_METHODS_MAX:
            continue
        yield Finding(path, each.line,
                      f"{each.name} has {each.data} data members and {each.methods} methods; the walls are "
                      f"{house.CLASS_DATA_MAX} and {house.CLASS_METHODS_MAX}: divide its state",
                      soft=folder_of(path) not in house.CLASSES_DIVIDED)


def check_words(path, text):
    pattern = re.compile(r"\b(" + "|".join(house.BANNED_WORDS) + r")\b")
    for number, line in enumerate(text.splitlines(), 1):
        if match := pattern.search(line):
            yield Finding(path, number, f"{match.group(1)}: finish it, or write down what is true")


def check_header(path, text):
    code = cpp_source.without_comments(text)
    if not re.search(r"^#pragma once$", code, re.MULTILINE):
        yield Finding(path, 1, "a header starts with #pragma once")
    for match in re.finditer(r"^\s*using\s+namespace\b", code, re.MULTILINE):
        yield Finding(path, code.count("\n", 0, match.end()) + 1, "using namespace in a header")


def check_purity(path, text):
    if not house.covers(house.PURE_FOLDERS, folder_of(path)):
        return
    code = cpp_source.without_comments(text)
    for what, pattern in house.BANNED_IN_PURE.items():
        for match in re.finditer(pattern, code):
            yield Finding(path, code.count("\n", 0, match.start()) + 1,
                          f"{folder_of(path)} decides without I/O, but '{match.group(0)}' {what}")


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            arguments = [a.arg for a in node.args.posonlyargs + node.args.args + node.args.kwonlyargs]
            count = len([a for a in arguments if a not in ("self", "cls")])
            yield cpp_source.Function(node.lineno, node.name, node.end_lineno - node.lineno + 1, count)


def check_file(path, text):
    yield from check_sizes(path, text)
    yield from check_words(path, text)
    if path.endswith(".py"):
        yield from check_functions(path, python_functions(text))
        return
    yield from check_arrows(path, text)
    yield from check_doors(path, text)
    yield from check_functions(path, cpp_source.functions(text))
    yield from check_classes(path, text)
    yield from check_purity(path, text)
    if path.endswith(".h"):
        yield from check_header(path, text)


def check_folders(paths):
    """Each folder with code is a target of its own, and has tests beside it."""
    folders = {folder_of(p) for p in paths if p.endswith((".cpp", ".h"))}
    for folder in sorted(folders):
        if not any(p == f"{folder}/CMakeLists.txt" for p in paths):
            yield Finding(f"{folder}/CMakeLists.txt", 1, "a folder with code is a target: it needs this file")
        tested = any(p.startswith(f"tests/{folder}/") and p.endswith("_test.cpp") for p in paths)
        if not folder.startswith("tests/") and not tested:
            yield Finding(f"tests/{folder}/", 1, "a folder with code needs tests in here")


def names_source(recipe, name):
    """Whether a CMakeLists.txt names the file, whole or, as in ${name}_fuzz.cpp, in two places."""
    def has_word(word):
        return re.search(rf"(?<![\w.-]){re.escape(word)}(?![\w-])", recipe)

    endings = set(re.findall(r"\$\{\w+\}([\w.-]*\.cpp)", recipe))
    return has_word(name) or any(name.endswith(end) and has_word(name.removesuffix(end)) for end in endings)


def check_built(paths, recipes):
    """Every .cpp is named by a CMakeLists.txt: otherwise it would not be compiled, and its tests would not run."""
    for path in (p for p in paths if p.endswith(".cpp")):
        above = [parent.as_posix() for parent in Path(path).parents]
        texts = (recipes[f"{folder}/CMakeLists.txt"] for folder in above if f"{folder}/CMakeLists.txt" in recipes)
        if not any(names_source(text, Path(path).name) for text in texts):
            yield Finding(path, 1, "no CMakeLists.txt names this file")


REGISTRY = "shared/manifest/algorithms.cpp"
ALGORITHMS_PAGE = "docs/algorithms.md"


def check_algorithms(texts, page):
    """An algorithm's name appears where it is composed and in the docs' table, and decides nothing elsewhere."""
    names = re.findall(r'^ +Algorithm\{"([\w-]+)"', texts.get(REGISTRY, ""), re.MULTILINE)
    for name in names:
        if f"\n| `{name}` |" not in page:
            yield Finding(ALGORITHMS_PAGE, 1, f"the table does not have the algorithm '{name}'")
        for path, text in texts.items():
            if path == REGISTRY or path.startswith("tests/") or path.endswith(".py"):
                continue
            for number, line in enumerate(cpp_source.with_strings(text).splitlines(), 1):
                if f'"{name}"' in line:
                    yield Finding(path, number, f"'{name}' is a name for operators: look at the manifest's parts")


def source_paths(root):
    wanted = {".cpp", ".h", ".py", ".sql"}
    for top in ROOTS:
        for path in sorted((root / top).rglob("*")):
            if path.is_file() and (path.suffix in wanted or path.name == "CMakeLists.txt"):
                yield path.relative_to(root).as_posix()


def check_tree(root):
    paths = list(source_paths(root))
    texts = {p: (root / p).read_text(encoding="utf-8") for p in paths if p.endswith((".cpp", ".h", ".py"))}
    for path, text in texts.items():
        yield from check_file(path, text)
    sources = {p: text for p, text in texts.items() if not p.endswith(".py")}
    yield from check_hidden_doors(sources)
    yield from check_folders(paths)
    recipes = {p: (root / p).read_text(encoding="utf-8") for p in paths if p.endswith("CMakeLists.txt")}
    yield from check_built(paths, recipes)
    page = root / ALGORITHMS_PAGE
    yield from check_algorithms(texts, page.read_text(encoding="utf-8") if page.exists() else "")
    if (root / protocol_page.PAGE).exists() and not protocol_page.is_current(root):
        yield Finding(protocol_page.PAGE, 1, f"shared/wire says something else: run {protocol_page.COMMAND}")
    if (root / averaging_page.PAGE).exists() and not averaging_page.is_current(root):
        yield Finding(averaging_page.PAGE, 1, f"{averaging_page.SOURCE} says something else: run {averaging_page.COMMAND}")
    yield from (Finding(*found) for found in documents.check(root))
    for path, text in sources.items():
        yield from (Finding(*found) for found in comments.check(path, text))


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    findings = list(check_tree(root))
    for finding in findings:
        print(finding)
    errors = sum(not finding.soft for finding in findings)
    print(f"tidy: {errors} errors, {len(findings) - errors} notes")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
