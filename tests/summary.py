#!/usr/bin/env python3
"""Counts what CTest ran, from the files of its --output-junit, and says why a test was skipped.

usage: summary.py RESULTS.xml...          one paragraph per file
       summary.py --total RESULTS.xml...  one line: N passed, N failed, N skipped

A run of a GoogleTest program by CTest leaves a file in the folder results beside RESULTS.xml
(cmake/list_suites.py). The cases in that file are counted, not the run. A run that ended without a
file counts as one failure, named after the case in which it ended.

Exits with 1 when a test failed, or when none ran.
"""

import argparse
import re
import sys
import xml.etree.ElementTree as xml
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cmake"))
import list_suites  # noqa: E402  (it knows where results are)

GTEST_STARTED = re.compile(r"^\[ RUN      \] (\S+)", re.MULTILINE)


class Summary(NamedTuple):
    passed: list
    failed: list
    skipped: dict  # reason: names of the tests


def summarize(text: str, cases_of=lambda entry: None) -> Summary:
    """cases_of: the text of what GoogleTest wrote of an entry, None where there is nothing."""
    summary = Summary([], [], defaultdict(list))
    for entry in xml.fromstring(text).iter("testcase"):
        name, status = entry.get("name"), entry.get("status")
        cases = cases_of(name)
        if cases is not None:
            _add_cases(summary, name, cases, status)
        elif status == "run":
            summary.passed.append(name)
        elif status == "disabled":
            summary.skipped["switched off in the source"].append(name)
        elif status == "notrun" and _skipped_itself(entry):
            summary.skipped[_reason(entry)].append(name)
        else:  # failed, or could not even start
            summary.failed.append(_with_last_case(name, entry))
    return summary


def _add_cases(summary: Summary, entry: str, text: str, status: str) -> None:
    program = entry.split(".", 1)[0]
    failed_before = len(summary.failed)
    for case in xml.fromstring(text).iter("testcase"):
        name = f"{program}.{case.get('classname')}.{case.get('name')}"
        if case.find("failure") is not None:
            summary.failed.append(name)
        elif case.get("status") == "notrun":
            summary.skipped["switched off in the source"].append(name)
        elif case.find("skipped") is not None:
            summary.skipped[_gtest_reason(case)].append(name)
        else:
            summary.passed.append(name)
    if status != "run" and len(summary.failed) == failed_before:
        summary.failed.append(f"{entry} (after its cases)")


def _with_last_case(entry_name: str, entry: xml.Element) -> str:
    started = GTEST_STARTED.findall(entry.findtext("system-out") or "")
    return f"{entry_name} (ended in {started[-1]})" if started else entry_name


def _skipped_itself(entry: xml.Element) -> bool:
    skipped = entry.find("skipped")
    return skipped is not None and skipped.get("message", "").startswith("SKIP_")


def _gtest_reason(case: xml.Element) -> str:
    """What GTEST_SKIP() was given; its first line is where it stands."""
    lines = (case.find("skipped").text or "").strip().splitlines()[1:]
    return " ".join(" ".join(lines).split()) or "no reason given"


def _reason(entry: xml.Element) -> str:
    """The last line that a test of another kind printed."""
    lines = (entry.findtext("system-out") or "").strip().splitlines()
    return " ".join(lines[-1].split()) if lines else "no reason given"


def results_beside(path: Path):
    def cases_of(entry: str):
        file = list_suites.result_file(path.parent / "results", entry)
        if not file.is_file() or not file.read_bytes().rstrip().endswith(b"</testsuites>"):
            return None
        return file.read_text(encoding="utf-8")
    return cases_of


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
        summary = summarize(path.read_text(encoding="utf-8"), results_beside(path))
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
