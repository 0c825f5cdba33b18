#!/usr/bin/env python3
"""Compiles the TNA program for Tofino and checks the stages and stateful ALUs that it takes.

The compiler is P4C_TOFINO or p4c-barefoot on the path, with options if it needs some. Without it, the
front end of P4C_BM2 or p4c-bm2-ss reads the program and checks its types, if P4C_TOFINO_INCLUDE names
the folder of tna.p4. What cannot be checked is skipped (exit code 77) with the reason; REQUIRE_P4=1
makes that a failure."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import generate

STAGES, STATEFUL_IN_STAGE = 12, 4
# The front end has finished when the back end for BMv2 refuses the architecture.
OTHER_ARCHITECTURE = "main package"


def budget(assembly: str) -> tuple:
    """The stages, and the most stateful ALUs in one of them, from the compiler's assembly."""
    stages, stateful, stage = set(), Counter(), None
    for line in assembly.splitlines():
        begin = re.match(r"stage (\d+) (?:ingress|egress):", line)
        if begin:
            stage = int(begin.group(1))
            stages.add(stage)
        elif line and not line.startswith(" "):
            stage = None
        elif stage is not None and re.match(r"\s+stateful \S+:\s*$", line):
            stateful[stage] += 1
    return len(stages), max(stateful.values(), default=0)


def compile_program(compiler: list, source: Path, folder: Path) -> None:
    subprocess.run([*compiler, "--target", "tofino", "--arch", "tna", "-o", str(folder), str(source)], check=True)
    files = list(folder.rglob("*.bfa"))
    if not files:
        sys.exit(f"expected a .bfa file of {compiler[0]} in its output, found none")
    stages, stateful = budget(files[0].read_text(encoding="utf-8"))
    print(f"{stages} of {STAGES} stages, at most {stateful} of {STATEFUL_IN_STAGE} stateful ALUs in one")
    if not 0 < stages <= STAGES or not 0 < stateful <= STATEFUL_IN_STAGE:
        sys.exit("expected 1 or more of both, and no more than a Tofino has")


def front_end(source: Path) -> str:
    """Checks what the front end can check. Returns what it was."""
    compiler = os.environ.get("P4C_BM2") or shutil.which("p4c-bm2-ss")
    include = os.environ.get("P4C_TOFINO_INCLUDE")
    if not compiler or not include:
        return "nothing was checked, because P4C_TOFINO_INCLUDE or p4c-bm2-ss is not there either"
    done = subprocess.run([*shlex.split(compiler), "-D__TARGET_TOFINO__=1", "-I", include, str(source)],
                          capture_output=True, text=True, check=False)
    errors = [line for line in done.stderr.splitlines() if "error:" in line]
    if len(errors) != 1 or OTHER_ARCHITECTURE not in errors[0]:
        sys.exit(f"expected only an error about the {OTHER_ARCHITECTURE} of another architecture, got:\n{done.stderr}")
    return "syntax and types are right, stages were not checked"


def main() -> int:
    compiler = os.environ.get("P4C_TOFINO") or shutil.which("p4c-barefoot")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "aggregator_tna.p4"
        source.write_text(generate.program(), encoding="utf-8")
        if compiler:
            compile_program(shlex.split(compiler), source, folder / "out")
            return 0
        print(f"skipped, because there is no p4c-barefoot on the path and no P4C_TOFINO in the environment; "
              f"{front_end(source)}")
    return 1 if os.environ.get("REQUIRE_P4") == "1" else 77


if __name__ == "__main__":
    sys.exit(main())
