"""The project's own files, as the checks in this folder see them."""

import os
import re
from pathlib import Path
from typing import Iterator, NamedTuple, Optional

CODE_SUFFIXES = {".h", ".cc", ".cu", ".cuh", ".hpp", ".cpp"}
SKIPPED_FOLDERS = {"build", "__pycache__"}
HIDDEN_FOLDERS_READ = {".ci"}
EXCEPTIONS = Path("tests/house_exceptions.json")  # what is beyond a bound, and known

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]*)"|<([^>]*)>|(\w+))')


class Include(NamedTuple):
    line: int
    path: str
    form: str  # "quoted", "angle" or "macro"


def files(root: Path) -> Iterator[Path]:
    """Every file of the project, relative to root, in a fixed order. No git is needed."""
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(s for s in subfolders if _is_read(s))
        for name in sorted(names):
            path = Path(folder, name)
            if path.is_file():
                yield path.relative_to(root)


def code_files(root: Path) -> Iterator[Path]:
    return (path for path in files(root) if path.suffix in CODE_SUFFIXES)


def is_generated(path: Path) -> bool:
    return path.name.endswith("_generated.h")


def includes(path: Path) -> Iterator[Include]:
    text = path.read_text(encoding="utf-8", errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield _include(number, *match.groups())


def _include(line: int, quoted: Optional[str], angle: Optional[str],
             macro: Optional[str]) -> Include:
    if quoted is not None:
        return Include(line, quoted, "quoted")
    if angle is not None:
        return Include(line, angle, "angle")
    return Include(line, macro or "", "macro")


def _is_read(folder: str) -> bool:
    if folder in SKIPPED_FOLDERS:
        return False
    return not folder.startswith(".") or folder in HIDDEN_FOLDERS_READ
