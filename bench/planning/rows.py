"""The rows of the last table: what was wanted, what was measured, and the verdict."""

from typing import NamedTuple, Optional

MET, MISSED, NOT_MEASURED = "met", "MISSED", "not measured"


class Row(NamedTuple):
    part: str
    what: str
    wanted: str
    measured: str = "-"
    verdict: str = NOT_MEASURED


def row(part: str, what: str, wanted: str, measured: Optional[str], met: Optional[bool]) -> Row:
    """`met` is None if nothing was measured, or not enough for a verdict."""
    if met is None:
        return Row(part, what, wanted, measured or "-")
    return Row(part, what, wanted, measured or "-", MET if met else MISSED)


def table(rows: list) -> str:
    columns = ["part", "goal", "wanted", "measured", ""]
    cells = [columns, *[list(each) for each in rows]]
    widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip() for line in cells]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)
