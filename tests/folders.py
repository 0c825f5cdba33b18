"""How many source files a folder has at one level, and whether the documents name the folders."""

import re
from collections import Counter
from pathlib import Path
from typing import Iterator

import source_tree

FILES_MAX = 25
MAP = Path("README.md")
MAP_HEADING = "## The map of the code"
ARCHITECTURE = Path("docs/architecture.md")
LINKED_FOLDER = re.compile(r"\[([^\]]*)\]\(([^)#\s]+)\)")
CODE_SPAN = re.compile(r"`([\w.-]+(?:/[\w.-]+)*/?)`")
LEFT_BY_PROGRAMS = {"tributary-demo"}  # .gitignore has it, too


def file_counts(root: Path) -> Counter:
    """The source files (.h, .cc and the like) directly in each folder, tests with them."""
    return Counter(path.parent.as_posix() for path in source_tree.code_files(root)
                   if not source_tree.is_generated(path))


def size_complaints(root: Path, ceilings: dict) -> Iterator[str]:
    """`ceilings` lists the folders that are still beyond the bound, with what they may reach."""
    counts = file_counts(root)
    for folder, count in sorted(counts.items()):
        if count <= FILES_MAX:
            continue
        if folder not in ceilings:
            yield (f"{folder}:1: {count} source files at one level; make subfolders by what the "
                   f"files do ({FILES_MAX} at most)")
        elif count > ceilings[folder]:
            yield (f"{folder}:1: {count} source files at one level; it had {ceilings[folder]}, "
                   "and may only shrink; make subfolders by what the files do")
    for folder in ceilings:
        if counts[folder] <= FILES_MAX:
            yield (f"{source_tree.EXCEPTIONS}:1: {folder} keeps the bound of {FILES_MAX} source "
                   "files now; remove its entry")


def map_complaints(root: Path) -> Iterator[str]:
    """Both documents name every folder that they should, and none that is not there.

    The README's map names each folder at the top and each folder of core. docs/architecture.md
    names each folder of core, and each folder at the top that has code. Every path that either names
    exists. A word without a slash is a path only where such a folder exists.
    """
    parts = {part for path in source_tree.files(root) for part in path.parents}
    visible = [part for part in parts
               if part.parts and not part.parts[0].startswith(".")
               and part.parts[0] not in LEFT_BY_PROGRAMS]
    top = {part for part in visible if len(part.parts) == 1}
    of_core = {part for part in visible if len(part.parts) == 2 and part.parts[0] == "core"}
    with_code = top & {part for path in source_tree.code_files(root) for part in path.parents}
    if (root / MAP).is_file():
        lines = _lines_of_map((root / MAP).read_text(encoding="utf-8"))
        yield from _document_complaints(root, MAP, lines, top, top | of_core)
    if (root / ARCHITECTURE).is_file():
        lines = list(enumerate((root / ARCHITECTURE).read_text(encoding="utf-8").splitlines(), 1))
        yield from _document_complaints(root, ARCHITECTURE, lines, top, with_code | of_core)


def _lines_of_map(text: str) -> list:
    inside, lines = False, []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("## "):
            inside = line == MAP_HEADING
        elif inside:
            lines.append((number, line))
    return lines


def _document_complaints(root: Path, document: Path, lines: list, top: set,
                         expected: set) -> Iterator[str]:
    named = set()
    for number, line in lines:
        for path in _paths(document, line):
            is_word = len(path.parts) <= 1 and path not in top
            if is_word:
                continue
            if not (root / path).exists():
                yield f"{document}:{number}: no folder or file {path}; name what is there now"
            named |= {path, *path.parents}
    for folder in sorted(expected - named):
        yield f"{document}:1: the folder {folder} is not named; say what happens there"


def _paths(document: Path, line: str) -> Iterator[Path]:
    """The paths that a line names, from the root of the repository."""
    for text, target in LINKED_FOLDER.findall(line):
        if "://" not in target:
            yield Path(_normal(document.parent / target))
            if re.fullmatch(r"[\w-]+(/[\w-]+)*", text) and "/" in text:
                yield Path(text)
    for span in CODE_SPAN.findall(line):
        yield Path(span)


def _normal(path: Path) -> str:
    parts = []
    for part in path.parts:
        if part == "..":
            parts = parts[:-1]
        else:
            parts.append(part)
    return "/".join(parts)
