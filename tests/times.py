#!/usr/bin/env python3
"""Says where the time of a build and of its tests went, by preset.

usage: times.py BUILD...

Compiling, linking and listing tests are what ninja logged, tests what CTest wrote to
BUILD/tests.xml. All are seconds of one core; the wall's time is near their sum divided by the
number of cores.
"""

import argparse
import sys
import xml.etree.ElementTree as xml
from collections import Counter
from pathlib import Path

SLOWEST = 5


def build_seconds(log: str) -> dict:
    """Of each output the seconds of its last build, from the text of a .ninja_log."""
    took, edges = {}, set()
    for line in log.splitlines():
        if line.startswith("#"):
            continue
        start_ms, end_ms, _, output, command = line.split("\t")
        edge = (start_ms, end_ms, command)
        if edge not in edges:  # a command with several outputs stands there once for each
            edges.add(edge)
            took[output] = (int(end_ms) - int(start_ms)) / 1000
    return took


def kind(output: str) -> str:
    if output.endswith(".o"):
        return "compile tests" if "_test.dir/" in output else "compile"
    if Path(output).suffix in ("", ".so", ".a"):
        return "link"
    return "other"


def test_seconds(text: str) -> dict:
    return {case.get("name"): float(case.get("time") or 0)
            for case in xml.fromstring(text).iter("testcase")}


def show(build: Path) -> None:
    totals, slowest = Counter(), {}
    log, results = build / ".ninja_log", build / "tests.xml"
    if log.is_file():
        took = build_seconds(log.read_text(encoding="utf-8"))
        for output, seconds in took.items():
            totals[kind(output)] += seconds
        slowest["built"] = took
    if results.is_file():
        took = test_seconds(results.read_text(encoding="utf-8"))
        totals["test"] = sum(took.values())
        slowest["tested"] = took
    print(f"{build.name:<8}" + "".join(f"  {name} {totals[name]:.0f} s" for name in
                                       ("compile", "compile tests", "link", "other", "test")))
    for what, took in slowest.items():
        for name in sorted(took, key=took.get, reverse=True)[:SLOWEST]:
            print(f"    {what} in {took[name]:6.1f} s  {name}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("builds", nargs="+", type=Path, metavar="BUILD")
    for build in parser.parse_args().builds:
        show(build)
    return 0


if __name__ == "__main__":
    sys.exit(main())
