#!/usr/bin/env python3
"""Runs clang-tidy over the project's C++ files; remembers the ones that passed.

usage: clang_tidy.py --build build/lint [--jobs N] [--shipped]

A file is checked again only when it, a project header that it reaches, its compile command,
.clang-tidy or clang-tidy itself has changed: all of that goes into the name of a stamp file in
BUILD/clang-tidy.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import source_tree

ROOT = Path(__file__).resolve().parent.parent


# Debian's clang 14 has errors in what these of libtorch 1.13 make of the standard library.
UNREADABLE = ("#include <torch/", "#include <ATen/")


class Unit(NamedTuple):
    """One compile command, of a file that a person wrote."""
    path: Path  # relative to the root
    command: str


def units_in(build: Path) -> list:
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    ours = set(source_tree.code_files(ROOT))
    found = {}
    for entry in commands:
        path = Path(os.path.relpath(Path(entry["directory"], entry["file"]), ROOT))
        if path.suffix == ".cu":  # nvcc's options are not clang's
            continue
        text = (ROOT / path).read_text(encoding="utf-8") if path in ours else ""
        if path in ours and not any(include in text for include in UNREADABLE):
            found[path] = Unit(path, entry["command"])
    return [found[path] for path in sorted(found)]


class Stamps:
    def __init__(self, folder: Path, common: str):
        self.folder = folder
        self.common = common
        self.hashes = {}
        folder.mkdir(exist_ok=True)

    def of(self, unit: Unit) -> Path:
        key = hashlib.sha256(f"{self.common}\n{unit.command}\n".encode())
        for path in sorted(self._reached_from(unit.path)):
            key.update(f"{path} {self._hash(path)}\n".encode())
        return self.folder / key.hexdigest()

    def _reached_from(self, path: Path) -> set:
        reached, waiting = set(), [path]
        while waiting:
            path = waiting.pop()
            if path not in reached and (ROOT / path).is_file():
                reached.add(path)
                waiting += [Path(include.path) for include in source_tree.includes(ROOT / path)]
        return reached

    def _hash(self, path: Path) -> str:
        if path not in self.hashes:
            self.hashes[path] = hashlib.sha256((ROOT / path).read_bytes()).hexdigest()
        return self.hashes[path]


def is_trial(path: Path) -> bool:
    """Whether a file tries out the code, and is not part of what is installed."""
    return path.parts[0] in ("tests", "bench") or path.stem.endswith(("_test", "_fuzz", "_bench"))


def check(unit: Unit, build: Path) -> str:
    """What clang-tidy has against the file; empty when nothing."""
    folders = "|".join(sorted({path.parts[0] for path in source_tree.code_files(ROOT)}))
    result = subprocess.run(
        ["clang-tidy", "-p", str(build), "--quiet", f"--header-filter=^{ROOT}/({folders})/",
         "--extra-arg=-Wno-unused-command-line-argument",  # GCC's options are not all clang's
         str(ROOT / unit.path)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if result.returncode == 0:
        return ""
    return (result.stdout or result.stderr).replace(f"{ROOT}/", "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--shipped", action="store_true",
                        help="leave out tests, fuzzers and benchmarks")
    arguments = parser.parse_args()
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    settings = (ROOT / ".clang-tidy").read_bytes()
    stamps = Stamps(arguments.build / "clang-tidy", hashlib.sha256(version + settings).hexdigest())
    stamp_of = {unit: stamps.of(unit) for unit in units_in(arguments.build)}
    due = [unit for unit, stamp in stamp_of.items()
           if not stamp.exists() and not (arguments.shipped and is_trial(unit.path))]
    failed = 0
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for unit, text in zip(due, pool.map(lambda unit: check(unit, arguments.build), due)):
            if text:
                print(text, file=sys.stderr)
                failed += 1
            else:
                stamp_of[unit].touch()
    for stamp in set(stamps.folder.iterdir()) - set(stamp_of.values()):
        stamp.unlink()
    print(f"clang-tidy: {len(stamp_of)} files, {len(due)} of them checked now, {failed} failed")
    return 1 if failed or not stamp_of else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
