#!/usr/bin/env python3
"""The exit codes that the documents promise are the ones that core/base/exit_codes.h gives."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = (ROOT / "core" / "base" / "exit_codes.h").read_text(encoding="utf-8")
COMMANDS = (ROOT / "docs" / "command_line.md").read_text(encoding="utf-8")
RUN = (ROOT / "docs" / "run.md").read_text(encoding="utf-8")


def constants() -> dict[str, int]:
    return {name: int(value)
            for name, value in re.findall(r"constexpr int (kExit\w+) = (\d+);", HEADER)}


def codes_of_statuses() -> dict[str, int]:
    """From the switch: StatusCode's name to its number."""
    known = constants()
    cases = re.findall(r"case StatusCode::(\w+):\s*return (kExit\w+)(?: \+ (\d+))?;", HEADER)
    return {status: known[base] + int(more or 0) for status, base, more in cases}


def section(text: str) -> str:
    return text.split("## Exit codes", 1)[1].split("\n## ", 1)[0]


class ExitCodes(unittest.TestCase):
    def test_every_code_of_a_status_is_documented_under_its_name_and_no_other(self):
        statuses = codes_of_statuses()
        self.assertGreater(len(statuses), 10, "the header is read wrongly")
        rows = re.findall(r"^\| (\d+) \|[^|]*\| ([^|]*)\|$", section(COMMANDS), re.MULTILINE)
        documented = {int(code): set(re.findall(r"`(\w+)`", names)) for code, names in rows
                      if int(code) < 128}
        for status, code in statuses.items():
            if status in ("ok", "cancelled"):  # 0, and 128 + n
                continue
            self.assertIn(code, documented, status)
            self.assertIn(status, documented[code])
        own = {constants()[name] for name in ("kExitOk", "kExitUsage", "kExitViolation",
                                              "kExitInternal")}
        self.assertEqual(set(documented) - own, set(statuses.values()) - {0, 130})

    def test_ranges_begin_where_the_header_says(self):
        ranges = {int(first) for first in re.findall(r"^\| \*\*(\d+)–\d+\*\*", section(COMMANDS),
                                                     re.MULTILINE)}
        begins = {value for name, value in constants().items() if value % 10 == 0 and
                  name != "kExitOk"}
        self.assertEqual(ranges, begins)

    def test_what_a_daemon_may_end_with_is_in_the_same_table(self):
        known = set(codes_of_statuses().values()) | set(constants().values())
        codes = {int(code) for row in re.findall(r"^\| ([\d, ]+) \|", section(RUN), re.MULTILINE)
                 for code in row.split(",")}
        self.assertGreater(len(codes), 5, "the table is read wrongly")
        self.assertLessEqual(codes, known)


if __name__ == "__main__":
    unittest.main()
