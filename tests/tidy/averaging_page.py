#!/usr/bin/env python3
"""The table of docs/averaging.md, made from docs/measurements/averaging.json.

tidy.py reports a table that is out of date; this program writes it.

    averaging_page.py                             writes the table
    averaging_page.py --take FILE --run LETTER    first takes the rows of FILE, from starling-bench averaging --json,
                                                  into that run; its date, commit and machine are then yours to change
"""

import argparse
import json
from pathlib import Path

PAGE = "docs/averaging.md"
SOURCE = "docs/measurements/averaging.json"
COMMAND = "python3 tests/tidy/averaging_page.py"
BEGIN, END = "<!-- made by tests/tidy/averaging_page.py -->\n", "<!-- end of what is made -->\n"
HEAD = ["setting", "time", "aim", "Gloo", "CPU s/GB", "aim", "run"]
# A figure of starling-bench, its wording in the table, its digits, and the digits of the CPU time beside it.
FIGURES = {
    "ratio_to_bound": ("{} × bound", 3, 1),
    "ratio_to_gloo": ("{} × Gloo", 2, 2),
    "time_s": ("{} s", 2, 1),
    "recovery_s": ("{} s later", 2, 1),
}


def row_cells(row):
    pattern, digits, cpu_digits = FIGURES[row["figure"]]
    gloo = f"{row['gloo']:g} ({row['gloo_run']})" if "gloo" in row else ""
    cpu = f"{row['cpu']:.{cpu_digits}f}" if "cpu" in row else ""
    return [row["name"], pattern.format(f"{row['time']:.{digits}f}"), f"{row['time_aim']:g}" if "time_aim" in row else "",
            gloo, cpu, f"{row['cpu_aim']:g}" if "cpu_aim" in row else "", row["run"]]


def table(measured):
    lines = ["|" + "|".join(HEAD) + "|", "|---" * len(HEAD) + "|"]
    lines += ["|" + "|".join(row_cells(row)) + "|" for row in measured["rows"]]
    for name, run in measured["runs"].items():
        lines += ["", f"{name}: {run['date']}, commit {run['commit']}, {run['machine']}", f"(`{run['command']}`)."]
    return "\n".join(lines) + "\n"


def page(root):
    """The page with the table that the measurements make."""
    before, _, rest = (root / PAGE).read_text(encoding="utf-8").partition(BEGIN)
    measured = json.loads((root / SOURCE).read_text(encoding="utf-8"))
    return before + BEGIN + table(measured) + END + rest.partition(END)[2]


def is_current(root):
    return (root / PAGE).read_text(encoding="utf-8") == page(root)


def take(measured, result, run):
    """Copies figures of starling-bench's rows, by the rows' names, into the run's rows."""
    found = {row["name"]: row.get("figures", {}) for row in result.get("rows", [result])}
    for row in measured["rows"]:
        figures = found.get(row["bench"], {})
        if row["run"] == run and figures.get(row["figure"]) is not None:
            digits, cpu_digits = FIGURES[row["figure"]][1:]
            row["time"] = round(figures[row["figure"]], digits)
            if "cpu" in row:
                row["cpu"] = round(figures["cpu_s_per_gb"], cpu_digits)
        if row.get("gloo_run") == run and figures.get("gloo_" + row["figure"]) is not None:
            row["gloo"] = round(figures["gloo_" + row["figure"]], 2)


def text_of(measured):
    """JSON with a line for each field of a run, and a line for each row."""
    def fields(run):
        return ",\n".join(f'      "{key}": {json.dumps(value, ensure_ascii=False)}' for key, value in run.items())

    runs = ",\n".join(f'    "{name}": {{\n{fields(run)}\n    }}' for name, run in measured["runs"].items())
    rows = ",\n".join("    " + json.dumps(row, ensure_ascii=False) for row in measured["rows"])
    return f'{{\n  "runs": {{\n{runs}\n  }},\n  "rows": [\n{rows}\n  ]\n}}\n'


def main():
    root = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser()
    parser.add_argument("--take", metavar="FILE", type=Path)
    parser.add_argument("--run", metavar="LETTER")
    arguments = parser.parse_args()
    if arguments.take:
        measured = json.loads((root / SOURCE).read_text(encoding="utf-8"))
        take(measured, json.loads(arguments.take.read_text(encoding="utf-8")), arguments.run)
        (root / SOURCE).write_text(text_of(measured), encoding="utf-8")
    (root / PAGE).write_text(page(root), encoding="utf-8")


if __name__ == "__main__":
    main()
