#!/usr/bin/env python3
"""Fails when a file includes what stands after its own folder in tests/layers.txt.

usage: layers.py [--root FOLDER]
"""

import argparse
import sys
from pathlib import Path
from typing import Iterator, NamedTuple, Optional

import source_tree


class Layer(NamedTuple):
    name: str
    position: int
    only: tuple  # the layers it is restricted to; empty: all that stand before it


class Order:
    def __init__(self, text: str):
        self.layers = {}
        rows = [line.split("#")[0].strip() for line in text.splitlines()]
        for position, row in enumerate(row for row in rows if row):
            names, _, only = row.partition(":")
            for name in names.split():
                self.layers[name] = Layer(name, position, tuple(only.split()))

    def layer_of(self, path: str) -> Optional[Layer]:
        """The entry for the file, or for the nearest folder."""
        file = Path(path)
        for name in (file, *file.parents):
            layer = self.layers.get(name.as_posix())
            if layer:
                return layer
        return None

    def objection(self, source: str, target: str) -> Optional[str]:
        """Why source may not include target, or None."""
        here, there = self.layer_of(source), self.layer_of(target)
        if here is None or there is None or here == there:
            return None
        if there.position > here.position:
            return f"{there.name} stands after {here.name}"
        if there.position == here.position:
            return f"{there.name} stands beside {here.name}"
        if here.only and not any(f"{there.name}/".startswith(f"{name}/") for name in here.only):
            return f"{here.name} may include only {', '.join(here.only)}"
        return None


def complaints(root: Path, order: Order) -> Iterator[str]:
    for path in source_tree.code_files(root):
        source = path.as_posix()
        if order.layer_of(source) is None:
            yield (f"{source}:1: {path.parent.as_posix()} is not in tests/layers.txt; "
                   "give it its place in the order there")
            continue
        for include in source_tree.includes(root / path):
            complaint = _complaint(root, order, source, include)
            if complaint:
                yield f"{source}:{include.line}: {complaint}"


def _complaint(root: Path, order: Order, source: str,
               include: source_tree.Include) -> Optional[str]:
    target = include.path
    if include.form == "macro":
        return f"#include {target} hides the path from this check; write it out"
    exists = (root / target).is_file()
    if include.form == "angle":
        return f'<{target}> is a file of the project; write "{target}"' if exists else None
    if ".." in Path(target).parts or Path(target).is_absolute():
        return f'"{target}": write the path from the root of the repository, without ".."'
    if (root / source).parent.joinpath(target).is_file() and not exists:
        whole = (Path(source).parent / target).as_posix()
        return f'"{target}": write the path from the root of the repository, "{whole}"'
    if not exists and not (source_tree.is_generated(Path(target)) and order.layer_of(target)):
        return (f'no file "{target}" in the repository; '
                "headers of other packages go in angle brackets")
    objection = order.objection(source, target)
    if objection:
        here = order.layer_of(source)
        return f"{here.name} may not include {target} ({objection})"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root
    order = Order((root / "tests" / "layers.txt").read_text(encoding="utf-8"))
    found = list(complaints(root, order))
    for complaint in found:
        print(complaint, file=sys.stderr)
    if not found:
        print("layers: every include points to what stands before it")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
