#!/usr/bin/env python3
"""Assembles the fragments in changes/ into CHANGELOG.md.

usage: changelog.py                print the unreleased changes
       changelog.py VERSION        move them into a section of CHANGELOG.md, and remove the fragments

A section groups its entries by kind: added, changed, fixed, removed. Within a kind they are in the
order of the fragments' names. Nothing is written or removed if a fragment or the version is refused.
"""

import argparse
import datetime
import re
import sys
from pathlib import Path
from typing import Optional

from tidy import FRAGMENT

KINDS = ("added", "changed", "fixed", "removed")
VERSION = re.compile(r"\d+\.\d+\.\d+")
HEADER = """# Changelog

Each section lists the changes of one release that users can see. `./dev changelog VERSION` adds a section
from the fragments in [changes](changes).
"""
# A fragment's links start at changes/, those of CHANGELOG.md at the root.
LINK_TO_PARENT = re.compile(r"\]\(\.\./")


class Refused(Exception):
    pass


def fragments(root: Path) -> list:
    """The fragments of changes/, ordered by name. Raises Refused for a file that is none."""
    found = []
    for path in sorted((root / "changes").glob("*")):
        if path.name == "README.md":
            continue
        if not FRAGMENT.fullmatch(path.name):
            raise Refused(f"{path.name}: expected a name like codec-int8.added.md; rename the file")
        if not path.read_text(encoding="utf-8").strip():
            raise Refused(f"{path.name}: expected one to three sentences, found none; write them")
        found.append(path)
    return found


def entry(path: Path) -> str:
    """The fragment's text as one item of a list."""
    lines = LINK_TO_PARENT.sub("](", path.read_text(encoding="utf-8")).strip().split("\n")
    return "- " + "\n".join([lines[0], *("  " + line if line else "" for line in lines[1:])])


def section(title: str, paths: list) -> str:
    parts = [f"## {title}\n"]
    for kind in KINDS:
        entries = [entry(path) for path in paths if path.name.endswith(f".{kind}.md")]
        if entries:
            parts.append(f"### {kind.capitalize()}\n\n" + "\n".join(entries) + "\n")
    return "\n".join(parts)


def with_section(changelog: str, new: str) -> str:
    """The changelog with a new section above all others."""
    header, mark, others = (changelog or HEADER).partition("\n## ")
    return "\n".join([header.rstrip("\n") + "\n", new]) + (mark + others if others else "")


def release(root: Path, version: str, date: datetime.date) -> int:
    """Writes the section of a release and removes its fragments. Returns their number."""
    if not VERSION.fullmatch(version):
        raise Refused(f"expected a version like 1.2.3, found '{version}'")
    file = root / "CHANGELOG.md"
    changelog = file.read_text(encoding="utf-8") if file.is_file() else ""
    if re.search(rf"^## {re.escape(version)}\b", changelog, re.MULTILINE):
        raise Refused(f"CHANGELOG.md has a section {version} already; choose the next version")
    paths = fragments(root)
    if not paths:
        raise Refused("expected fragments in changes/, found none; there is nothing to release")
    file.write_text(with_section(changelog, section(f"{version} ({date})", paths)), encoding="utf-8")
    for path in paths:
        path.unlink()
    return len(paths)


def main(arguments: Optional[list] = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("version", nargs="?", metavar="VERSION")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    options = parser.parse_args(arguments)
    try:
        if options.version is None:
            print(section("Unreleased", fragments(options.root)), end="")
            return 0
        count = release(options.root, options.version, datetime.date.today())
    except Refused as refused:
        print(f"changelog: {refused}", file=sys.stderr)
        return 1
    print(f"CHANGELOG.md: section {options.version} from {count} fragments")
    return 0


if __name__ == "__main__":
    sys.exit(main())
