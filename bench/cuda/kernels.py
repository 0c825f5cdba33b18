#!/usr/bin/env python3
"""Compiles the GPU's kernels and prints registers, shared memory, spills and occupancy of each.

usage: kernels.py [--arch 87,90] [FILE.cu...]

The table has one line for a kernel. Of a template's instances it shows the one with the most
registers. Occupancy is the share of a multiprocessor's threads that fit beside one another, for
blocks of 256 threads. Needs nvcc and c++filt.
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
THREADS = 256  # kThreads in block.h
WARP = 32


class Multiprocessor(NamedTuple):
    threads: int
    blocks: int
    shared_bytes: int
    registers: int = 65536
    register_unit: int = 256  # that a warp gets at once
    shared_unit: int = 128
    shared_of_system: int = 1024  # per block


# CUDA C++ Programming Guide, technical specifications per compute capability.
MULTIPROCESSORS = {"80": Multiprocessor(2048, 32, 164 << 10), "86": Multiprocessor(1536, 16, 100 << 10),
                   "87": Multiprocessor(1536, 16, 164 << 10), "89": Multiprocessor(1536, 24, 100 << 10),
                   "90": Multiprocessor(2048, 32, 228 << 10)}


class Kernel(NamedTuple):
    name: str
    registers: int
    shared_bytes: int
    spill_bytes: int
    stack_bytes: int


def rounded_up(value: int, unit: int) -> int:
    return (value + unit - 1) // unit * unit


def occupancy(kernel: Kernel, of: Multiprocessor) -> float:
    warps = THREADS // WARP
    by_registers = of.registers // (rounded_up(kernel.registers * WARP, of.register_unit) * warps)
    shared = rounded_up(kernel.shared_bytes + of.shared_of_system, of.shared_unit)
    blocks = min(by_registers, of.shared_bytes // shared, of.threads // THREADS, of.blocks)
    return blocks * THREADS / of.threads


def project_flags() -> list[str]:
    """Those of the library, so that the table is of the code that it has."""
    rules = (ROOT / "core/codec/cuda/gpu/CMakeLists.txt").read_text(encoding="utf-8")
    flags = re.search(r"COMPILE_LANGUAGE:CUDA>:(--fmad[^>]*)>", rules)
    return [flag for flag in flags.group(1).split(";") if "Werror" not in flag]


def name_of(mangled: str) -> str:
    """The kernel without namespaces, template arguments and parameters."""
    text = subprocess.run(["c++filt", mangled], check=True, text=True, capture_output=True).stdout.strip()
    text = re.sub(r"\(anonymous namespace\)::", "", text)
    while re.search(r"<[^<>]*>", text):
        text = re.sub(r"<[^<>]*>", "", text)
    return text.split("(")[0].split("::")[-1].split()[-1]


def kernels(output: str) -> list[Kernel]:
    """Those that ptxas describes."""
    found = []
    for part in output.split("Compiling entry function '")[1:]:
        def number(pattern: str, text=part) -> int:
            match = re.search(pattern, text)
            return int(match.group(1)) if match else 0
        found.append(Kernel(name_of(part.split("'")[0]), number(r"Used (\d+) registers"),
                            number(r"(\d+) bytes smem"),
                            number(r"(\d+) bytes spill stores") + number(r"(\d+) bytes spill loads"),
                            number(r"(\d+) bytes stack frame")))
    return found


def compiled(source: Path, arch: str) -> list[Kernel]:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["nvcc", "-std=c++20", "-O3", "-DNDEBUG", "-DTRIBUTARY_CUDA", f"-I{ROOT}", *project_flags(),
             f"--generate-code=arch=compute_{arch},code=sm_{arch}", "-Xptxas", "-v", "-cubin", "-o",
             f"{folder}/kernels.cubin", str(source)], text=True, capture_output=True, check=False)
    if done.returncode != 0:
        raise ChildProcessError(done.stderr)
    return kernels(done.stderr)


def worst(of_one_name: list[Kernel]) -> Kernel:
    return Kernel(of_one_name[0].name, *(max(kernel[i] for kernel in of_one_name) for i in range(1, 5)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", default="87,90", help="compute capabilities (%(default)s)")
    parser.add_argument("files", nargs="*", type=Path, help="(all kernels)")
    options = parser.parse_args()
    arches = options.arch.split(",")
    folder = ROOT / "core/codec/cuda"
    sources = options.files or sorted([*folder.glob("*.cu"), *folder.glob("*/*.cu")])
    heads = " / ".join(f"sm_{arch}" for arch in arches)
    print(f"| file | kernel | instances | registers, {heads} | shared memory, bytes | spills, stack, bytes "
          f"| occupancy, {heads} |")
    print("|---|---|---|---|---|---|---|")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {(source, arch): pool.submit(compiled, source, arch)
                for source in sources for arch in arches}
    for source in sources:
        try:
            by_arch = {arch: jobs[source, arch].result() for arch in arches}
        except ChildProcessError as error:
            sys.exit(str(error))
        for name in dict.fromkeys(kernel.name for kernel in by_arch[arches[0]]):
            of_name = {arch: [k for k in by_arch[arch] if k.name == name] for arch in arches}
            each = [worst(of_name[arch]) for arch in arches]
            share = " / ".join(f"{min(occupancy(k, MULTIPROCESSORS[a]) for k in of_name[a]) * 100:.0f} %"
                               for a in arches)
            print(f"| {source.name} | `{name}` | {len(of_name[arches[0]])} "
                  f"| {' / '.join(str(kernel.registers) for kernel in each)} "
                  f"| {max(kernel.shared_bytes for kernel in each)} "
                  f"| {max(kernel.spill_bytes for kernel in each)}, "
                  f"{max(kernel.stack_bytes for kernel in each)} | {share} |", flush=True)


if __name__ == "__main__":
    main()
