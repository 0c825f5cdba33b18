"""The table of tidy.py --table: the sizes of classes and folders, here and in another commit."""

import subprocess
import tarfile
import tempfile
from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import Iterator, NamedTuple, Optional

import class_sizes
import cpp_reader
import folders
import source_tree
import unused

LARGEST = 10  # classes that are printed although they keep the bounds


class Tree(NamedTuple):
    classes: dict  # name to Sized
    folders: Counter
    lines: dict    # top folder to (shipped, tests)


def measure(root: Path) -> Tree:
    sizes = class_sizes.Classes(class_sizes.sources_of(root)).sizes(root)
    return Tree({sized.name: sized for sized in sizes}, folders.file_counts(root), _code_lines(root))


def measure_commit(root: Path, commit: str) -> Tree:
    """Measures another commit of the repository, with the rules of this one."""
    result = subprocess.run(["git", "-C", str(root), "archive", "--format=tar", commit],
                            capture_output=True, check=False)
    if result.returncode:
        raise ValueError(f"no commit {commit}: {result.stderr.decode(errors='replace').strip()}")
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=BytesIO(result.stdout)) as tar:
            tar.extractall(folder, filter="data")
        return measure(Path(folder))


def _code_lines(root: Path) -> dict:
    lines = {}
    for path in source_tree.code_files(root):
        if source_tree.is_generated(path) or len(path.parts) < 2:
            continue
        count = cpp_reader.code_lines((root / path).read_text(encoding="utf-8", errors="replace"))
        here = lines.setdefault(path.parts[0], [0, 0])
        here[0 if unused.is_shipped(path) else 1] += count
    return lines


def rows(after: Tree, before: Optional[Tree] = None) -> Iterator[str]:
    """The lines of the table. With `before`, each figure is "before > after" where they differ."""
    yield from _class_rows("Classes beyond a bound", after, before,
                           _beyond(after) | (_beyond(before) if before else set()))
    yield ""
    others = [name for name in _by_size(after) if name not in _beyond(after)]
    yield from _class_rows(f"The {LARGEST} largest classes within the bounds", after, before,
                           set(others[:LARGEST]))
    yield ""
    yield from _folder_rows(after, before)
    yield ""
    yield from _line_rows(after, before)
    yield ""
    old = before or after
    yield f"{'Classes in all':<44}{_change(len(old.classes), len(after.classes)):>12}"


def _beyond(tree: Tree) -> set:
    return {name for name, sized in tree.classes.items() if sized.beyond()}


def _by_size(tree: Tree) -> list:
    """Largest by its figures, each as a share of its bound; a record by its methods alone."""
    def share(name):
        sized = tree.classes[name]
        shares = [figure / bound for figure, bound in zip(sized.figures, class_sizes.BOUNDS)]
        if sized.is_record:
            shares = shares[:2]
        return (-sum(shares[:3]), name)
    return sorted(tree.classes, key=share)


def _class_rows(title: str, after: Tree, before: Optional[Tree], names: set) -> Iterator[str]:
    bounds = class_sizes.BOUNDS
    yield (f"{title:<44}{'methods':>12}{'public':>12}{'data':>12}{'files':>12}")
    yield (f"{'  bound':<44}" + "".join(f"{bound:>12}" for bound in bounds))
    order = [name for name in _by_size(before) if name in names] if before else []
    order += [name for name in _by_size(after) if name in names and name not in order]
    for name in order:
        new = after.classes.get(name)
        old = before.classes.get(name) if before else new
        figures = [_change(old.figures[at] if old else None, new.figures[at] if new else None)
                   for at in range(len(bounds))]
        yield f"  {name:<42}" + "".join(f"{figure:>12}" for figure in figures)


def _folder_rows(after: Tree, before: Optional[Tree]) -> Iterator[str]:
    names = {folder for tree in (after, before) if tree
             for folder, count in tree.folders.items() if count > folders.FILES_MAX}
    yield f"{f'Folders beyond {folders.FILES_MAX} source files at one level':<44}{'files':>12}"
    old = before or after
    for folder in sorted(names, key=lambda name: (-old.folders[name], name)):
        yield f"  {folder:<42}{_change(old.folders[folder], after.folders[folder]):>12}"


def _line_rows(after: Tree, before: Optional[Tree]) -> Iterator[str]:
    old = before or after
    yield f"{'Lines of code, without comments':<44}{'shipped':>20}{'tests, benches':>20}"
    totals = [[0, 0], [0, 0]]
    for folder in sorted(set(old.lines) | set(after.lines)):
        pairs = [old.lines.get(folder, (0, 0)), after.lines.get(folder, (0, 0))]
        for total, pair in zip(totals, pairs):
            total[0] += pair[0]
            total[1] += pair[1]
        yield _line_row(folder, pairs)
    yield _line_row("all", totals)


def _line_row(name: str, pairs: list) -> str:
    return f"  {name:<42}" + "".join(f"{_change(pairs[0][at], pairs[1][at]):>20}"
                                     for at in range(2))


def _change(old: Optional[int], new: Optional[int]) -> str:
    if old == new:
        return str(new)
    return f"{'-' if old is None else old} > {'-' if new is None else new}"
