#!/usr/bin/env python3
"""Counts what CTest ran, from the files of its --output-junit, and says why a test was skipped.

usage: summary.py RESULTS.xml...          one paragraph per file
       summary.py --total RESULTS.xml...  one line: N passed, N failed, N skipped

Exits with 1 when a test failed, or when none ran.
"""

import argparse
import re
import sys
import xml.etree.ElementTree as xml
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

GTEST_REASON = re.compile(r": Skipped\n(.*?)\n?\[  SKIPPED \]", re.DOTALL)


class Summary(NamedTuple):
    passed: list
    failed: list
    skipped: dict  # reason: names of the tests


def summarize(text: str) -> Summary:
    summary = Summary([], [], defaultdict(list))
    for case in xml.fromstring(text).iter("testcase"):
        name, status = case.get("name"), case.get("status")
        if status == "run":
            summary.passed.append(name)
        elif status == "disabled":
            summary.skipped["switched off in the source"].append(name)
        elif status == "notrun" and _skipped_itself(case):
            summary.skipped[_reason(case)].append(name)
        else:  # failed, or could not even start
            summary.failed.append(name)
    return summary


def _skipped_itself(case: xml.Element) -> bool:
    skipped = case.find("skipped")
    return skipped is not None and skipped.get("message", "").startswith("SKIP_")


def _reason(case: xml.Element) -> str:
    """What GTEST_SKIP() was given, or the last line that another kind of test printed."""
    output = case.findtext("system-out") or ""
    match = GTEST_REASON.search(output)
    reason = match.group(1) if match else (output.strip().splitlines() or [""])[-1]
    return " ".join(reason.split()) or "no reason given"


def paragraph(title: str, summary: Summary) -> str:
    skipped_count = sum(len(names) for names in summary.skipped.values())
    lines = [f"{title}: {len(summary.passed) + len(summary.failed)} tests run, "
             f"{len(summary.passed)} passed, {len(summary.failed)} failed, "
             f"{skipped_count} skipped"]
    lines += [f"  failed: {name}" for name in summary.failed]
    for reason, names in summary.skipped.items():
        lines.append(f"  skipped, {reason}:")
        lines += [f"    {name}" for name in names]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--total", action="store_true", help="one line for all files together")
    parser.add_argument("results", nargs="+", type=Path)
    arguments = parser.parse_args()
    passed = failed = skipped = 0
    for path in arguments.results:
        summary = summarize(path.read_text(encoding="utf-8"))
        passed += len(summary.passed)
        failed += len(summary.failed)
        skipped += sum(len(names) for names in summary.skipped.values())
        if not arguments.total:
            print(paragraph(path.parent.name, summary))
    if arguments.total:
        print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if failed == 0 and passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
