#!/usr/bin/env python3
"""Writes what CTest runs of a GoogleTest program: one entry per suite, and one more for each set of
labels that only some of a suite's cases carry.

usage: list_suites.py --name NAME --out FILE.cmake --results FOLDER [--only REGEX]
                      [--labels LABEL...] [--mark LABEL=REGEX...] -- [EMULATOR...] PROGRAM

The entry NAME.Suite leaves RESULTS/NAME.Suite.xml behind, with each case that ran; tests/summary.py
counts those. --only leaves out the cases whose NAME.Suite.Case does not match. --labels are of every
case, and --mark gives LABEL to the cases whose NAME.Suite.Case matches. A suite whose instantiation
begins with Slow carries the label slow, whatever program it is in.

The file begins with a comment for each alternative of a --mark and the number of cases that it
matches. Several programs of a folder have the same marks, so only a reader of all their files can
tell that an alternative matches nothing (tests/marks_test.py).
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

TIMEOUT_S = 600
SLOW_COST = 100  # slow entries begin first, so that none of them is left alone at the end
SLOW = ("slow", r"^[^.]*[.]Slow\w*/")


def suites_of(command: list) -> dict:
    """Suite: its cases, both as --gtest_filter takes them."""
    listed = subprocess.run([*command, "--gtest_list_tests"], stdout=subprocess.PIPE, text=True,
                            timeout=60, check=True).stdout
    suites, cases = {}, None
    for line in listed.splitlines():
        name = line.split("#", 1)[0].rstrip()
        if not name.startswith(" ") and name.endswith("."):
            cases = suites.setdefault(name[:-1], [])
        elif name.startswith(" ") and cases is not None:
            cases.append(name.strip())
    return suites


def entries_of(program: str, suites: dict, only: str, labels: list, marks: list) -> list:
    """Of each entry its name, its filter and its labels; marks are pairs of label and regex."""
    entries = []
    for suite, cases in suites.items():
        by_labels = {}
        for case in cases:
            name = f"{program}.{suite}.{case}"
            if re.search(only, name):
                marked = {label for label, regex in [SLOW, *marks] if re.search(regex, name)}
                by_labels.setdefault(tuple(sorted(marked)), []).append(case)
        for marked, some in sorted(by_labels.items()):
            suffix = f" ({' '.join(marked)})" if marked and len(by_labels) > 1 else ""
            whole = len(some) == len(cases)
            filters = [f"{suite}.*"] if whole else [f"{suite}.{case}" for case in some]
            entries.append((f"{program}.{suite}{suffix}", ":".join(filters),
                            sorted({*labels, *marked})))
    return entries


def mark(text: str) -> tuple:
    label, equals, regex = text.partition("=")
    if not label or not equals or not regex:
        raise argparse.ArgumentTypeError(f"expected LABEL=REGEX, found '{text}'")
    return label, regex


def alternatives(regex: str) -> list:
    """The parts between the | outside all brackets. Sets in square brackets contain none here."""
    parts, depth = [""], 0
    for character in re.findall(r"\\.|.", regex):
        depth += (character == "(") - (character == ")")
        if character == "|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def mark_comments(program: str, suites: dict, marks: list) -> list:
    names = [f"{program}.{suite}.{case}" for suite, cases in suites.items() for case in cases]
    return ["#mark\t" + "\t".join([label, part, str(sum(bool(re.search(part, name)) for name in names))])
            for label, regex in marks for part in alternatives(regex)]


def result_file(folder: Path, entry: str) -> Path:
    return folder / (re.sub(r"[^A-Za-z0-9_.-]", "-", entry) + ".xml")


def quoted(text) -> str:
    return f"[==[{text}]==]"


def script_of(entries: list, command: list, results: Path) -> str:
    lines = []
    for name, cases, labels in entries:
        words = [*command, f"--gtest_filter={cases}",
                 f"--gtest_output=xml:{result_file(results, name)}"]
        lines.append(f"add_test({quoted(name)} {' '.join(quoted(word) for word in words)})")
        properties = f"TIMEOUT {TIMEOUT_S}"
        if labels:
            properties += f' LABELS "{";".join(labels)}"'
        if "slow" in labels:
            properties += f" COST {SLOW_COST}"
        lines.append(f"set_tests_properties({quoted(name)} PROPERTIES {properties})")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--name", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--labels", nargs="*", default=[])
    parser.add_argument("--mark", nargs="*", type=mark, default=[], dest="marks")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    suites = suites_of(arguments.command)
    if not any(suites.values()):
        print(f"{arguments.name} has no test case", file=sys.stderr)
        return 1
    entries = entries_of(arguments.name, suites, arguments.only,
                         arguments.labels, arguments.marks)
    comments = "".join(line + "\n" for line in
                       mark_comments(arguments.name, suites, arguments.marks))
    script = script_of(entries, arguments.command, arguments.results)
    arguments.out.write_text(comments + script, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
