#!/usr/bin/env python3
"""Compiles the GPU's kernels and prints registers, shared memory, spills and occupancy of each.

usage: kernels.py [--compiler clang|nvcc] [--arch 87,90] [--check] [FILE.cu...]

The table has one line for a kernel. Of a template's instances it shows the largest number of
registers and bytes, and the lowest occupancy. That is the share of a multiprocessor's threads that
fit beside one another, for blocks of 256 threads. The last column counts loads and stores of 16
bytes among all of global memory, in the PTX of all instances.

--check prints, after the table, the kernels with spills or a stack and those with an occupancy below
50 %, and exits with 1 if there are any. Needs c++filt, and nvcc or clang++-19 with CUDA 12
(./dev setup --cuda).
"""

import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "cmake"))
import device_code  # noqa: E402 pylint: disable=wrong-import-position

CLANG = "clang++-19"
TOOLKIT = ROOT / "build/cuda12"
OCCUPANCY_MIN = 0.5  # which is wanted
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
    wide_accesses: int  # loads and stores of 16 bytes of global memory
    accesses: int


def rounded_up(value: int, unit: int) -> int:
    return (value + unit - 1) // unit * unit


def occupancy(kernel: Kernel, of: Multiprocessor) -> float:
    warps = THREADS // WARP
    by_registers = of.registers // (rounded_up(kernel.registers * WARP, of.register_unit) * warps)
    shared = rounded_up(kernel.shared_bytes + of.shared_of_system, of.shared_unit)
    blocks = min(by_registers, of.shared_bytes // shared, of.threads // THREADS, of.blocks)
    return blocks * THREADS / of.threads


def project_flags(compiler: str) -> list[str]:
    """Those of the library, so that the table is of the code that it has."""
    rules = (ROOT / "core/codec/cuda/gpu/CMakeLists.txt").read_text(encoding="utf-8")
    if compiler == "nvcc":
        flags = re.search(r"COMPILE_LANGUAGE:CUDA>:(--fmad[^>]*)>", rules).group(1).split(";")
    else:
        flags = re.search(r"set\(flags ([^)]*)\)", rules).group(1).split()
        flags = [flag for flag in flags if "PROJECT_SOURCE_DIR" not in flag]
    return [flag for flag in flags if "Werror" not in flag]


def name_of(mangled: str) -> str:
    """The kernel without namespaces, template arguments and parameters."""
    text = subprocess.run(["c++filt", mangled], check=True, text=True, capture_output=True).stdout.strip()
    text = re.sub(r"\(anonymous namespace\)::", "", text)
    while re.search(r"<[^<>]*>", text):
        text = re.sub(r"<[^<>]*>", "", text)
    return text.split("(")[0].split("::")[-1].split()[-1]


def accesses_of(ptx: str) -> dict[str, tuple[int, int]]:
    """By kernel: accesses of 16 bytes to global memory, and all of them."""
    found = {}
    for body in re.split(r"\.entry\s+", ptx)[1:]:
        each = re.findall(r"^\s+(?:@\S+\s+)?(?:ld|st)((?:\.volatile)?\.global\S*)", body, re.MULTILINE)
        wide = sum(bool(re.search(r"\.v4\.[fub]32|\.v2\.[fub]64", access)) for access in each)
        found[body.split("(")[0].strip()] = (wide, len(each))
    return found


def kernels(output: str, ptx: str) -> list[Kernel]:
    """Those that ptxas describes."""
    found = []
    accesses = accesses_of(ptx)
    for part in output.split("Compiling entry function '")[1:]:
        def number(pattern: str, text=part) -> int:
            match = re.search(pattern, text)
            return int(match.group(1)) if match else 0
        found.append(Kernel(name_of(part.split("'")[0]), number(r"Used (\d+) registers"),
                            number(r"(\d+) bytes smem"),
                            number(r"(\d+) bytes spill stores") + number(r"(\d+) bytes spill loads"),
                            number(r"(\d+) bytes stack frame"), *accesses[part.split("'")[0]]))
    return found


def compiled(compiler: str, source: Path, arch: str) -> list[Kernel]:
    flags = ["-std=c++20", "-O3", "-DNDEBUG", "-DTRIBUTARY_CUDA", f"-I{ROOT}", *project_flags(compiler)]
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder) / "kernels.cubin"
        if compiler == "clang":
            ptx = Path(folder) / "kernels.ptx"
            device_code.compile_ptx(CLANG, TOOLKIT, f"sm_{arch}", source, ptx, *flags)
            said = device_code.assemble(TOOLKIT, f"sm_{arch}", ptx, cubin)
            return kernels(said, ptx.read_text(encoding="utf-8"))
        done = subprocess.run(
            ["nvcc", *flags, f"--generate-code=arch=compute_{arch},code=sm_{arch}", "-Xptxas", "-v",
             "-cubin", "--keep", "--keep-dir", folder, "-o", str(cubin), str(source)],
            text=True, capture_output=True, check=False)
        if done.returncode != 0:
            raise ChildProcessError(done.stderr)
        return kernels(done.stderr, next(Path(folder).glob("*.ptx")).read_text(encoding="utf-8"))


def worst(of_one_name: list[Kernel]) -> Kernel:
    return Kernel(of_one_name[0].name, *(max(kernel[i] for kernel in of_one_name) for i in range(1, 5)),
                  sum(kernel.wide_accesses for kernel in of_one_name),
                  sum(kernel.accesses for kernel in of_one_name))


def default_compiler() -> str:
    """That of the build (cmake/TributaryOptionalParts.cmake)."""
    return "clang" if shutil.which(CLANG) and (TOOLKIT / "bin/ptxas").exists() else "nvcc"


def misses(name: str, each: dict[str, Kernel], shares: dict[str, float]) -> list[str]:
    """What the kernel has that is not wanted."""
    return [f"{name}, sm_{arch}: {kernel.registers} registers, {kernel.spill_bytes} bytes of spills, "
            f"{kernel.stack_bytes} of stack, occupancy {shares[arch] * 100:.0f} %"
            for arch, kernel in each.items()
            if kernel.spill_bytes or kernel.stack_bytes or shares[arch] < OCCUPANCY_MIN]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", choices=("clang", "nvcc"), default=default_compiler(),
                        help="(%(default)s)")
    parser.add_argument("--arch", default="87,90", help="compute capabilities (%(default)s)")
    parser.add_argument("--check", action="store_true", help="fail if a kernel spills, has a stack, or "
                                                             "has an occupancy below 50 %%")
    parser.add_argument("files", nargs="*", type=Path, help="(all kernels)")
    options = parser.parse_args()
    arches = options.arch.split(",")
    folder = ROOT / "core/codec/cuda"
    sources = options.files or sorted([*folder.glob("*.cu"), *folder.glob("*/*.cu")])
    heads = " / ".join(f"sm_{arch}" for arch in arches)
    print(f"| {options.compiler}: file | kernel | instances | registers, {heads} | shared memory, bytes "
          f"| spills, stack, bytes | occupancy, {heads} | of 16 bytes |")
    print("|---|---|---|---|---|---|---|---|")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {(source, arch): pool.submit(compiled, options.compiler, source, arch)
                for source in sources for arch in arches}
    missed = []
    for source in sources:
        try:
            by_arch = {arch: jobs[source, arch].result() for arch in arches}
        except ChildProcessError as error:
            sys.exit(str(error))
        for name in dict.fromkeys(kernel.name for kernel in by_arch[arches[0]]):
            of_name = {arch: [k for k in by_arch[arch] if k.name == name] for arch in arches}
            each = {arch: worst(of_name[arch]) for arch in arches}
            shares = {a: min(occupancy(k, MULTIPROCESSORS[a]) for k in of_name[a]) for a in arches}
            missed += misses(f"{source.parent.name}/{name}", each, shares)
            first = each[arches[0]]
            print(f"| {source.parent.name}/{source.name} | `{name}` | {len(of_name[arches[0]])} "
                  f"| {' / '.join(str(kernel.registers) for kernel in each.values())} "
                  f"| {max(kernel.shared_bytes for kernel in each.values())} "
                  f"| {max(kernel.spill_bytes for kernel in each.values())}, "
                  f"{max(kernel.stack_bytes for kernel in each.values())} "
                  f"| {' / '.join(f'{share * 100:.0f} %' for share in shares.values())} "
                  f"| {first.wide_accesses} of {first.accesses} |", flush=True)
    if options.check:
        print(f"{len(missed)} with spills, a stack or an occupancy below {OCCUPANCY_MIN * 100:.0f} %", *missed,
              sep="\n")
        sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
