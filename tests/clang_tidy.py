#!/usr/bin/env python3
"""Runs clang-tidy over the project's C++ files; remembers the ones that passed.

usage: clang_tidy.py --build build/dev [--jobs N] [--shipped]

It reads the batches of files that the build compiles at once (CMake's unity build): most of what it
does for one file is to read the headers, and a batch of thirty takes five times the time of one file. A batch
is checked again only when one of its files, a project header that they reach, its compile command,
.clang-tidy or clang-tidy itself has changed: all of that goes into the name of a stamp file in
BUILD/clang-tidy, beside the batches.

Batches that are to be checked are read together, up to ninety files at once. Where that gives two files
of different folders the same name for something, they are read apart. That is no finding, and costs time only; the
name is printed, so that it can be changed.
"""

import argparse
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import source_tree

ROOT = Path(__file__).resolve().parent.parent


# GCC's precompiled headers are not clang's, and each file is to include what it uses.
PRECOMPILED = re.compile(r" -Winvalid-pch -include \S+/cmake_pch\.hxx| -fpch-preprocess")

# Debian's clang 14 has errors in what these of libtorch 1.13 make of the standard library.
UNREADABLE = ("#include <torch/", "#include <ATen/")


# Options with which the preset dev keeps assertions. A release build has none, so what only an assertion
# uses is unused there. No other part of CI compiles without assertions.
ASSERTIONS = {" -UNDEBUG": " -DNDEBUG", " -D_GLIBCXX_ASSERTIONS": ""}

# A file of Highway's intrinsics is read once for each set of instructions. SSE2, AVX2 and the newest remain, so
# every #if of those files is read.
FEWER_INSTRUCTION_SETS = ' "-DHWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4|HWY_AVX3)"'


FILES_AT_ONCE = 90


class Batch(NamedTuple):
    """Files that people wrote and that one command compiles."""
    paths: tuple  # relative to the root
    command: str
    source: Path  # what the command compiles

    def is_joinable(self) -> bool:
        """Whether other files may be read before it: not if it has a main(), or includes itself as Highway's do."""
        return "Unity" in self.source.parts and all(path.name != "main.cc" for path in self.paths)

    def text(self) -> str:
        """As the build includes them; a file of its own is checked as it stands."""
        return "".join(f'// NOLINTNEXTLINE(bugprone-suspicious-include)\n#include "{ROOT / path}"\n'
                       for path in self.paths)


def batches_in(build: Path, shipped: bool) -> list:
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    ours = set(source_tree.code_files(ROOT))
    found, batches = set(), []
    for entry in sorted(commands, key=lambda entry: entry["file"]):
        source = Path(entry["directory"], entry["file"])
        if source.suffix == ".cu":  # nvcc's options are not clang's; CUDA's names are not ours
            continue
        paths = tuple(path for path in files_of(source)
                      if path in ours and path not in found and is_readable(path) and
                      not (shipped and is_trial(path)))
        found.update(paths)
        if paths:
            batches.append(Batch(paths, as_released(PRECOMPILED.sub("", entry["command"])), source))
    return batches


def as_released(command: str) -> str:
    for dev, released in ASSERTIONS.items():
        command = command.replace(dev, released)
    return command + FEWER_INSTRUCTION_SETS


def files_of(source: Path) -> list:
    """What people wrote of a compiled file: itself, or what a batch of the build includes."""
    if "Unity" not in source.parts:
        return [Path(os.path.relpath(source, ROOT))]
    included = re.findall(r'^#include "(.+)"$', source.read_text(encoding="utf-8"), re.MULTILINE)
    return [Path(os.path.relpath(path, ROOT)) for path in included]


def is_readable(path: Path) -> bool:
    text = (ROOT / path).read_text(encoding="utf-8")
    return not any(include in text for include in UNREADABLE)


def includes_and_macros(command: str) -> list:
    """The options of a command by which it finds headers and defines macros."""
    words, found = shlex.split(command), []
    for i, word in enumerate(words):
        if word == "-isystem":
            found.append((word, words[i + 1]))
        elif word.startswith(("-D", "-I")):
            found.append((word,))
    return found


def joined(batches: list) -> Batch:
    """One batch of all their files, with everything that one of their commands defines and finds."""
    command, options = batches[0].command, includes_and_macros(batches[0].command)
    for batch in batches[1:]:
        for option in includes_and_macros(batch.command):
            if option not in options:
                options.append(option)
                command += " " + shlex.join(option)
    return Batch(sum((batch.paths for batch in batches), ()), command, batches[0].source)


def groups_of(batches: list) -> list:
    """Lists of batches that are read together. Those with Qt, libtorch, MPI or a GPU are not mixed with others."""
    groups, last_of = [], {}
    kinds = ("-DQT_CORE_LIB", "/torch/", "openmpi", "-DTRIBUTARY_CUDA")
    for batch in batches:
        kind = tuple(option in batch.command for option in kinds)
        last = last_of.get(kind)
        if batch.is_joinable() and last and \
                sum(len(other.paths) for other in last) + len(batch.paths) <= FILES_AT_ONCE:
            last.append(batch)
            continue
        groups.append([batch])
        if batch.is_joinable():
            last_of[kind] = groups[-1]
    return groups


class Stamps:
    def __init__(self, folder: Path, common: str):
        self.folder = folder
        self.common = common
        self.hashes = {}
        folder.mkdir(exist_ok=True)

    def of(self, batch: Batch) -> Path:
        key = hashlib.sha256(f"{self.common}\n{batch.command}\n".encode())
        reached = set().union(*(self._reached_from(path) for path in batch.paths))
        for path in sorted(reached):
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


def check(batch: Batch, folder: Path) -> str:
    """What clang-tidy has against the files; empty when nothing."""
    folders = "|".join(sorted({path.parts[0] for path in source_tree.code_files(ROOT)}))
    with tempfile.TemporaryDirectory(dir=folder) as own:
        source = ROOT / batch.paths[0]
        if "Unity" in batch.source.parts:
            source = Path(own, "batch.cc")
            source.write_text(batch.text(), encoding="utf-8")
        command = {"directory": own, "file": str(source),
                   "command": batch.command.replace(str(batch.source), str(source))}
        Path(own, "compile_commands.json").write_text(json.dumps([command]), encoding="utf-8")
        result = subprocess.run(
            ["clang-tidy", "-p", own, "--quiet", f"--config-file={ROOT / '.clang-tidy'}",
             f"--header-filter=^{ROOT}/({folders})/",
             "--extra-arg=-Wno-unused-command-line-argument",  # GCC's options are not all clang's
             "--extra-arg=-Wno-unknown-warning-option", str(source)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if result.returncode == 0:
        return ""
    return (result.stdout or result.stderr).replace(f"{ROOT}/", "")


SAME_NAME = re.compile(r"^(\S+?):\d+:\d+: error: (?:redefinition of|reference to) '(\w+)'.*\[clang-diagnostic-error",
                       re.MULTILINE)


def names_used_twice(text: str) -> list:
    """Names that a joined batch defines twice, with the file of the second one: its batches are no worse for that."""
    return sorted({f"{path}: {name}" for path, name in SAME_NAME.findall(text)})


def check_group(group: list, folder: Path) -> list:
    """What clang-tidy has against each batch of a group."""
    text = check(joined(group), folder)
    if not text:
        return [""] * len(group)
    if len(group) == 1:
        return [text]
    if same_names := names_used_twice(text):
        print(f"clang-tidy: {len(group)} batches are read one by one, no finding: other files have the same names as",
              *same_names, sep="\n  ")
    return [check(batch, folder) for batch in group]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--shipped", action="store_true",
                        help="leave out tests, fuzzers and benchmarks")
    arguments = parser.parse_args()
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    settings = (ROOT / ".clang-tidy").read_bytes()
    folder = (arguments.build / "clang-tidy").resolve()
    stamps = Stamps(folder, hashlib.sha256(version + settings).hexdigest())
    stamp_of = {batch: stamps.of(batch)
                for batch in batches_in(arguments.build, arguments.shipped)}
    due = [batch for batch, stamp in stamp_of.items() if not stamp.exists()]
    failed = 0
    groups = groups_of(due)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for group, texts in zip(groups, pool.map(lambda group: check_group(group, folder), groups)):
            for batch, text in zip(group, texts):
                if text:
                    print(text, file=sys.stderr)
                    failed += 1
                else:
                    stamp_of[batch].touch()
    for stamp in set(folder.iterdir()) - set(stamp_of.values()):
        if stamp.is_file():
            stamp.unlink()
    files, checked = (sum(len(batch.paths) for batch in some) for some in (stamp_of, due))
    print(f"clang-tidy: {files} files, {checked} of them checked now, in {len(groups)} groups of {len(due)} batches, "
          f"{failed} of which failed")
    return 1 if failed or not stamp_of else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
