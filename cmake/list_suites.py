#!/usr/bin/env python3
"""Writes what CTest runs of a GoogleTest program: one entry per suite, and one more where only some
of a suite's cases carry a label.

usage: list_suites.py --name NAME --out FILE.cmake --results FOLDER [--only REGEX]
                      [--threads REGEX] [--long REGEX] [--labels LABEL...] -- [EMULATOR...] PROGRAM

The entry NAME.Suite leaves RESULTS/NAME.Suite.xml behind, with each case that ran; tests/summary.py
counts those. --only leaves out the cases whose NAME.Suite.Case does not match; those that match
--threads carry the label threads, suites whose NAME.Suite matches --long the label long. A suite whose instantiation begins with Slow carries the label
slow, whatever program it is in.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

TIMEOUT_S = 600


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


def entries_of(program: str, suites: dict, only: str, threads: str, labels: list,
               long: str = "") -> list:
    """Of each entry its name, its filter and its labels."""
    entries = []
    for suite, cases in suites.items():
        common = list(labels)
        if re.search(r"(^|/)Slow\w*/", f"{suite}/") and "/" in suite:
            common.append("slow")
        if long and re.search(long, f"{program}.{suite}"):
            common.append("long")
        wanted = [case for case in cases if re.search(only, f"{program}.{suite}.{case}")]
        marked = [case for case in wanted
                  if threads and re.search(threads, f"{program}.{suite}.{case}")]
        plain = [case for case in wanted if case not in marked]
        for some, suffix, more in ((plain, "", []), (marked, " (threads)" if plain else "",
                                                     ["threads"])):
            if not some:
                continue
            whole = len(some) == len(cases)
            filters = [f"{suite}.*"] if whole else [f"{suite}.{case}" for case in some]
            entries.append((f"{program}.{suite}{suffix}", ":".join(filters),
                            sorted(set(common + more))))
    return entries


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
        lines.append(f"set_tests_properties({quoted(name)} PROPERTIES {properties})")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--name", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--threads", default="")
    parser.add_argument("--long", default="")
    parser.add_argument("--labels", nargs="*", default=[])
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    suites = suites_of(arguments.command)
    if not any(suites.values()):
        print(f"{arguments.name} has no test case", file=sys.stderr)
        return 1
    entries = entries_of(arguments.name, suites, arguments.only, arguments.threads,
                         arguments.labels, arguments.long)
    arguments.out.write_text(script_of(entries, arguments.command, arguments.results),
                             encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
