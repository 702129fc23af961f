#!/usr/bin/env python3
"""Checks what a compiler does not: the arrows between folders, the doors of heavy libraries, sizes, banned words; plain
English in comments; contracts of types; the documents; and that docs/protocol.md follows its headers, and the table of
docs/averaging.md its measurements.

    tidy.py [ROOT]      prints one line a finding and the shares of comments, and fails if any finding is an error
"""

import ast
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import averaging_page
import comments
import cpp_classes
import cpp_source
import documents
import house
import protocol_page

PRODUCT = ["client", "coordinator", "shared", "db", "gui"]
ROOTS = PRODUCT + ["tests"]
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


def targets_by_folder(texts):
    """{folder: the other folders that its files include}."""
    targets = {}
    for path, text in texts.items():
        own = targets.setdefault(folder_of(path), set())
        own.update(included_folder(i.path) for i in cpp_source.includes(text) if i.quoted)
        own -= {folder_of(path), None}
    return targets


def check_used_arrows(texts):
    """Every arrow of the house is one that a file of its folder takes, so that the table says how things are."""
    targets = targets_by_folder(texts)
    for folder, arrows in {**house.ARROWS, **house.EXTRA_TEST_ARROWS}.items():
        for arrow in arrows if folder in targets else []:
            if not any(house.covers([arrow], target) for target in targets[folder]):
                yield Finding(HOUSE, 1, f"no file of {folder} includes {arrow}: remove the arrow")


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
    """The sizes of classes, each without those nested in it. Tests may go past the walls."""
    for c in cpp_classes.classes(text):
        soft = Path(path).parts[0] not in PRODUCT
        if c.data > house.CLASS_DATA_MAX:
            yield Finding(path, c.line, f"{c.name} has {c.data} data members; the wall is {house.CLASS_DATA_MAX}",
                          soft)
        if c.methods > house.CLASS_METHODS_MAX:
            yield Finding(path, c.line, f"{c.name} has {c.methods} methods; the wall is {house.CLASS_METHODS_MAX}", soft)


def check_words(path, text):
    pattern = re.compile(r"\b(" + "|".join(house.BANNED_WORDS) + r")\b")
    for number, line in enumerate(text.splitlines(), 1):
        if match := pattern.search(line):
            yield Finding(path, number, f"{match.group(1)}: finish it, or write down what is true")


# A command for people to copy, with a value between apostrophes: one in the value would end the word.
QUOTED_IN_COMMAND = re.compile(r"""\bstarling(?:-[a-z]+)? (?:"\s*")?[a-z](?:[^";\n]|"\s*")*?'\{""")


def check_commands(path, text):
    if Path(path).parts[0] not in PRODUCT:
        return
    for match in QUOTED_IN_COMMAND.finditer(cpp_source.with_strings(text)):
        yield Finding(path, text.count("\n", 0, match.end()) + 1,
                      "a command that is printed for a shell: shell_word(…) instead of apostrophes")


def check_header(path, text):
    code = cpp_source.without_comments(text)
    if not re.search(r"^#pragma once$", code, re.MULTILINE):
        yield Finding(path, 1, "a header starts with #pragma once")
    for match in re.finditer(r"^\s*using\s+namespace\b", code, re.MULTILINE):
        yield Finding(path, code.count("\n", 0, match.end()) + 1, "using namespace in a header")


def is_subject(name, path):
    """Whether the header is named for the type: tls_stream.h for TlsStream."""
    return name.replace("::", "").lower() == Path(path).stem.replace("_", "").lower()


def check_contracts(path, text):
    """Every type of a product header has a comment: above it, beside its first line, or at the top of its own header."""
    if not path.endswith(".h") or Path(path).parts[0] not in PRODUCT:
        return
    found = cpp_source.comment_lines(text)
    types = [c for c in cpp_classes.classes(text) if not c.nested]
    for c in types:
        above = found.get(c.line - 1) == 0
        beside = any(line in found for line in range(c.line, c.opening + 1))
        at_the_top = cpp_source.has_leading_comment(text) and (len(types) == 1 or is_subject(c.name, path))
        if not (above or beside or at_the_top):
            yield Finding(path, c.line, f"{c.name} has no contract: say what its name does not, above it")


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
    yield from check_contracts(path, text)
    yield from check_commands(path, text)
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


def headers_of_tests_only(texts):
    """The product's headers that no living file of the product includes. A .cpp lives if its header does, or if it has
    none of its own."""
    dead = set()
    while True:
        living = [p for p in texts if not p.startswith("tests/") and p not in dead and f"{p.removesuffix('.cpp')}.h" not in dead]
        included = {(i.path, path) for path in living for i in cpp_source.includes(texts[path]) if i.quoted}
        used = {header for header, path in included if f"{header.removesuffix('.h')}.cpp" != path}
        found = {p for p in living if p.endswith(".h") and p not in used}
        if not found:
            return dead
        dead |= found


def check_used_headers(texts):
    """The product holds no code for tests alone, except headers whose reason the house tells."""
    dead = headers_of_tests_only(texts)
    for path in sorted(dead - set(house.NOT_YET_USED)):
        yield Finding(path, 1, "no file of the product includes this header: move it below tests/, or remove it")
    for path in sorted((set(house.NOT_YET_USED) & set(texts)) - dead):
        yield Finding(HOUSE, 1, f"the product includes {path} now: remove it from NOT_YET_USED")


def takes_all(recipe):
    """Whether a library of the CMakeLists.txt names no files: then it has all of its folder."""
    return any("SOURCES" not in body for body in re.findall(r"starling_library\(([^()]*)\)", recipe))


def names_source(recipe, name):
    """Whether a CMakeLists.txt names the file, whole or, as in ${name}_fuzz.cpp, in two places."""
    def has_word(word):
        return re.search(rf"(?<![\w.-]){re.escape(word)}(?![\w-])", recipe)

    endings = set(re.findall(r"\$\{\w+\}([\w.-]*\.cpp)", recipe))
    return has_word(name) or any(name.endswith(end) and has_word(name.removesuffix(end)) for end in endings)


def check_built(paths, recipes):
    """Every .cpp is named by a CMakeLists.txt: otherwise it would not be compiled, and its tests would not run."""
    for path in (p for p in paths if p.endswith(".cpp")):
        if takes_all(recipes.get(f"{Path(path).parent.as_posix()}/CMakeLists.txt", "")):
            continue
        above = [parent.as_posix() for parent in Path(path).parents]
        texts = (recipes[f"{folder}/CMakeLists.txt"] for folder in above if f"{folder}/CMakeLists.txt" in recipes)
        if not any(names_source(text, Path(path).name) for text in texts):
            yield Finding(path, 1, "no CMakeLists.txt names this file")


HOUSE = "tests/tidy/house.py"
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


def read_sources(root):
    return {p: (root / p).read_text(encoding="utf-8") for p in source_paths(root) if p.endswith((".cpp", ".h", ".py"))}


def check_tree(root):
    paths = list(source_paths(root))
    texts = read_sources(root)
    for path, text in texts.items():
        yield from check_file(path, text)
    sources = {p: text for p, text in texts.items() if not p.endswith(".py")}
    yield from check_hidden_doors(sources)
    yield from check_used_arrows(sources)
    yield from check_used_headers(sources)
    yield from check_folders(paths)
    recipes = {p: (root / p).read_text(encoding="utf-8") for p in paths if p.endswith("CMakeLists.txt")}
    yield from check_built(paths, recipes)
    page = root / ALGORITHMS_PAGE
    yield from check_algorithms(texts, page.read_text(encoding="utf-8") if page.exists() else "")
    if (root / protocol_page.PAGE).exists() and not protocol_page.is_current(root):
        yield Finding(protocol_page.PAGE, 1, f"the headers say something else: run {protocol_page.COMMAND}")
    if (root / averaging_page.PAGE).exists() and not averaging_page.is_current(root):
        yield Finding(averaging_page.PAGE, 1, f"{averaging_page.SOURCE} says something else: run {averaging_page.COMMAND}")
    yield from (Finding(*found) for found in documents.check(root))
    for path, text in sources.items():
        yield from (Finding(*found) for found in comments.check(path, text))


def comment_share(texts):
    """The percentage of lines with nothing but a comment, among those that are not empty."""
    lines = sum(bool(line.strip()) for text in texts for line in text.splitlines())
    alone = sum(column is not None for text in texts for column in cpp_source.comment_lines(text).values())
    return f"{100 * alone / lines:.0f} %" if lines else "none"


def comment_shares(texts):
    """One line about the product's floors, to be read: no bar."""
    floors = []
    for floor in PRODUCT:
        own = {p: text for p, text in texts.items() if p.startswith(f"{floor}/") and p.endswith((".cpp", ".h"))}
        headers = [text for p, text in own.items() if p.endswith(".h")]
        floors.append(f"{floor} {comment_share(own.values())} / {comment_share(headers)}")
    return "comment lines, all / headers: " + ", ".join(floors)


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    findings = list(check_tree(root))
    for finding in findings:
        print(finding)
    errors = sum(not finding.soft for finding in findings)
    print(comment_shares(read_sources(root)))
    print(f"tidy: {errors} errors, {len(findings) - errors} notes")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
