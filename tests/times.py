#!/usr/bin/env python3
"""Says where the time of a build and of its tests went, by preset; of two checkouts side by side.

usage: times.py BUILD... [--before [CHECKOUT]]

Compiling, linking and other steps of the build are what ninja logged, tests what CTest wrote to
BUILD/tests.xml: seconds of one core. The wall's time is near their sum divided by the number of
cores. The parts of .ci/run and the steps of each are seconds of the wall, from the files that it writes
beside the builds; the processor time of a part is that of all its processes. --before makes a table of two columns: CHECKOUT has its own builds, and without one the
first column is what times_before.json has of commit 8ebf1ea.
"""

import argparse
import json
import re
import sys
import xml.etree.ElementTree as xml
from collections import Counter
from pathlib import Path

SLOWEST = 5
KINDS = ("compile", "compile tests", "link", "other", "test")
PARTS = "ci-times.tsv"  # .ci/run writes it, and the log of each part
LOG = "ci-{}.log"
STEP = re.compile(r"^==> (?P<step>[^:\n]+): done, (?P<seconds>[\d.]+) s$", re.MULTILINE)  # ./dev says it
RECORD = Path(__file__).resolve().with_name("times_before.json")


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


def seconds_by_output(build: Path) -> dict:
    """{"built": {output: seconds}, "tested": {suite: seconds}}, as far as they are logged."""
    log, results = build / ".ninja_log", build / "tests.xml"
    found = {}
    if log.is_file():
        found["built"] = build_seconds(log.read_text(encoding="utf-8"))
    if results.is_file():
        found["tested"] = test_seconds(results.read_text(encoding="utf-8"))
    return found


def totals(build: Path) -> Counter:
    found = seconds_by_output(build)
    sums = Counter()
    for output, seconds in found.get("built", {}).items():
        sums[kind(output)] += seconds
    if "tested" in found:
        sums["test"] = sum(found["tested"].values())
    return sums


def show(build: Path) -> None:
    sums = totals(build)
    print(f"{build.name:<8}" + "".join(f"  {name} {sums[name]:.0f} s" for name in KINDS))
    for what, took in seconds_by_output(build).items():
        for name in sorted(took, key=took.get, reverse=True)[:SLOWEST]:
            print(f"    {what} in {took[name]:6.1f} s  {name}")


def parts(builds: Path) -> dict:
    """Seconds of each part of the last .ci/run, and behind it of the steps that took a second or more."""
    file = builds / PARTS
    if not file.is_file():
        return {}
    found = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        name, wall, *processor = line.split("\t")
        found[f".ci/run {name}"] = int(wall)
        if processor:
            found["  processor time, " + name] = int(processor[0])
        log = builds / LOG.format(name)
        if log.is_file():
            for step in STEP.finditer(log.read_text(encoding="utf-8", errors="replace")):
                if float(step["seconds"]) >= 1:
                    found[f"  {step['step']}"] = float(step["seconds"])
    return found


def figures(checkout: Path, presets: list) -> dict:
    """Row: seconds, of a checkout, or of a file that has them."""
    if checkout.is_file():
        return json.loads(checkout.read_text(encoding="utf-8"))
    builds = checkout / "build"
    sums = ((preset, totals(builds / preset)) for preset in presets)
    return {**{f"{preset} {name}": total[name] for preset, total in sums for name in KINDS
               if name in total}, **parts(builds)}


def row(name: str, before, after) -> str:
    """A figure that was not measured is a dash; the last column is the ratio."""
    texts = ["-" if figure is None else f"{figure:.0f}" for figure in (before, after)]
    ratio = f"{after / before:.2f}" if before and after is not None else "-"
    return f"{name:<40}{texts[0]:>10}{texts[1]:>10}{ratio:>8}"


def comparison(before: Path, builds: list) -> list:
    """The lines of a table; `before` is the other checkout, or a file of its figures."""
    presets = [build.name for build in builds]
    old, new = figures(before, presets), figures(builds[0].resolve().parent.parent, presets)
    return [f"{'seconds':<40}{'before':>10}{'now':>10}{'ratio':>8}",
            *(row(name, old.get(name), new.get(name)) for name in {**new, **old})]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("builds", nargs="+", type=Path, metavar="BUILD")
    parser.add_argument("--before", type=Path, metavar="CHECKOUT", nargs="?", const=RECORD,
                        help="another checkout that was built, or else what is known of commit 8ebf1ea: "
                             "its figures beside these")
    arguments = parser.parse_args()
    if arguments.before:
        print("\n".join(comparison(arguments.before, arguments.builds)))
        return 0
    for build in arguments.builds:
        show(build)
    return 0


if __name__ == "__main__":
    sys.exit(main())
