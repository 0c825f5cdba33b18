"""The table of tidy.py --table: the sizes of classes and folders, here and in another commit."""

import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import Callable, Iterable, Iterator, NamedTuple, Optional

import class_sizes
import cpp_reader
import folders
import source_tree
import unused

LARGEST = 10  # classes that are printed although they keep the bounds
NO_LINES = cpp_reader.LineCounts(0, 0)


class Tree(NamedTuple):
    classes: dict  # name to Sized
    folders: Counter
    lines: dict    # folder, as of folder_of(), to LineCounts of (shipped, tests)


def measure(root: Path) -> Tree:
    sizes = class_sizes.Classes(class_sizes.sources_of(root)).sizes(root)
    return Tree({sized.name: sized for sized in sizes}, folders.file_counts(root), _lines(root))


def measure_commit(root: Path, commit: str) -> Tree:
    """Measures another commit of the repository, with the rules of this one."""
    result = subprocess.run(["git", "-C", str(root), "archive", "--format=tar", commit],
                            capture_output=True, check=False)
    if result.returncode:
        raise ValueError(f"no commit {commit}: {result.stderr.decode(errors='replace').strip()}")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["tar", "-x", "-C", folder], input=result.stdout, check=True)
        return measure(Path(folder))


def folder_of(path: Path) -> str:
    """The folder whose lines are counted together: a top folder, or one of the library in core/."""
    return "/".join(path.parts[:2] if path.parts[0] == "core" and len(path.parts) > 2
                    else path.parts[:1])


def _lines(root: Path) -> dict:
    lines = {}
    for path in source_tree.code_files(root):
        if source_tree.is_generated(path) or len(path.parts) < 2:
            continue
        counts = cpp_reader.line_counts((root / path).read_text(encoding="utf-8", errors="replace"))
        here = lines.setdefault(folder_of(path), [NO_LINES, NO_LINES])
        side = 0 if unused.is_shipped(path) else 1
        here[side] = _sum([here[side], counts])
    return lines


def _sum(counts: Iterable) -> cpp_reader.LineCounts:
    return cpp_reader.LineCounts(*(sum(figures) for figures in zip(NO_LINES, *counts)))


def top_folders(lines: dict) -> dict:
    """The same counts by top folder: core/ as one."""
    tops = {}
    for folder, pair in lines.items():
        top = folder.split("/")[0]
        tops[top] = [_sum(counts) for counts in zip(tops.get(top, (NO_LINES, NO_LINES)), pair)]
    return tops


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
    yield from _comment_rows(after, before)
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
    yield f"{'Lines of code, without comments':<44}{'shipped':>20}{'tests, benches':>20}"
    yield from _rows_by_folder(top_folders(after.lines),
                               top_folders(before.lines) if before else None,
                               lambda counts: counts.code)


def _comment_rows(after: Tree, before: Optional[Tree]) -> Iterator[str]:
    yield (f"{'Share of comment lines, in percent':<44}{'shipped':>20}{'tests, benches':>20}"
           f"{'together':>20}")
    yield from _rows_by_folder(_with_sum(after.lines), _with_sum(before.lines) if before else None,
                               _comment_share)


def _with_sum(lines: dict) -> dict:
    return {folder: [*pair, _sum(pair)] for folder, pair in lines.items()}


def _comment_share(counts: cpp_reader.LineCounts) -> Optional[float]:
    lines = counts.code + counts.comments
    return round(100 * counts.comments / lines, 1) if lines else None


def _rows_by_folder(after: dict, before: Optional[dict],
                    figure: Callable[[cpp_reader.LineCounts], object]) -> Iterator[str]:
    """A row for each folder, and one for all of them. A folder that is not there has no lines."""
    old = after if before is None else before
    columns = max((len(columns) for columns in after.values()), default=0)
    absent = [NO_LINES] * columns
    names = sorted(set(old) | set(after))
    pairs = {name: [old.get(name, absent), after.get(name, absent)] for name in names}
    pairs["all"] = [[_sum(tree.get(name, absent)[at] for name in names) for at in range(columns)]
                    for tree in (old, after)]
    for name, (was, now) in pairs.items():
        figures = [_change(figure(was[at]), figure(now[at])) for at in range(columns)]
        yield f"  {name:<42}" + "".join(f"{text:>20}" for text in figures)


def _change(old: Optional[float], new: Optional[float]) -> str:
    was, now = ("-" if figure is None else str(figure) for figure in (old, new))
    return now if was == now else f"{was} > {now}"
