#!/usr/bin/env python3
"""Compiles the device code of one .cu file by clang and ptxas, and packs it into one file.

usage: device_code.py --clang CLANG --toolkit DIR --machine 80,87,90 --ptx 80,90 --out FILE.code
                      --depfile FILE.d SOURCE.cu -- FLAGS...

FILE.code begins as core/codec/cuda/gpu/kernels.cc reads it: the magic number, the number of entries,
and for each entry whether it is PTX, its compute capability and its offset. PTX is kept beside it as
FILE.sm_NN.ptx, because tests read it, and what ptxas says as FILE.sm_NN.txt.
"""

import argparse
import struct
import subprocess
import sys
from pathlib import Path

MAGIC = b"TRIBGPU1"
ALIGNMENT = 64
# The PTX of CUDA 12.0, which every driver for CUDA 12 takes.
PTX_FEATURE = "+ptx80"
# Loops of kernels over a thread's registers are unrolled completely, and functions that take those are
# inlined. Otherwise clang keeps the values in memory.
OPTIMISER = ("-mllvm", "-unroll-threshold=3000", "-mllvm", "-inline-threshold=5000")


def run(*command) -> str:
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(str(word) for word in command)}\n{done.stdout}")
    return done.stdout


def compile_ptx(clang: str, toolkit: Path, arch: str, source: Path, ptx: Path, *flags):
    run(clang, "-x", "cuda", "--cuda-device-only", f"--cuda-gpu-arch={arch}",
        f"--cuda-path={toolkit}", f"--cuda-feature={PTX_FEATURE}", "-S", *flags, *OPTIMISER,
        "-o", ptx, source)


def assemble(toolkit: Path, arch: str, ptx: Path, cubin: Path) -> str:
    """Returns what ptxas says about each kernel."""
    return run(toolkit / "bin/ptxas", "-O3", "-v", "--fmad=false", f"-arch={arch}", "-o", cubin, ptx)


def packed(entries: list[tuple[bool, int, bytes]]) -> bytes:
    """Entries of (is PTX, compute capability, content)."""
    offset = len(MAGIC) + 8 + 16 * len(entries)
    head = MAGIC + struct.pack("<Q", len(entries))
    body = b""
    for is_ptx, capability, content in entries:
        body += b"\0" * (-(offset + len(body)) % ALIGNMENT)
        head += struct.pack("<IIQ", is_ptx, capability, offset + len(body))
        body += content + b"\0"  # the driver reads PTX as a text
    return head + body


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clang", required=True)
    parser.add_argument("--toolkit", type=Path, required=True)
    parser.add_argument("--machine", required=True, help="compute capabilities with machine code")
    parser.add_argument("--ptx", required=True, help="compute capabilities with PTX")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--depfile", type=Path, required=True)
    parser.add_argument("source", type=Path)
    parser.add_argument("flags", nargs="*")
    options = parser.parse_args()
    machine = [int(each) for each in options.machine.split(",")]
    ptx = [int(each) for each in options.ptx.split(",")]
    entries = []
    for capability in sorted({*machine, *ptx}):
        arch = f"sm_{capability}"
        text = options.out.with_suffix(f".{arch}.ptx")
        compile_ptx(options.clang, options.toolkit, arch, options.source, text, *options.flags,
                    "-MD", "-MF", options.depfile, "-MT", options.out)
        if capability in machine:
            code = options.out.with_suffix(f".{arch}.cubin")
            said = assemble(options.toolkit, arch, text, code)
            options.out.with_suffix(f".{arch}.txt").write_text(said, encoding="utf-8")
            entries.append((False, capability, code.read_bytes()))
            code.unlink()
        if capability in ptx:
            entries.append((True, capability, text.read_bytes()))
    options.out.write_bytes(packed(entries))


if __name__ == "__main__":
    main()
