#!/usr/bin/env python3
"""The PTX of the GPU's kernels has no instruction whose result may differ from the specification's:
no fused multiply-add, no flush of denormals, no approximation, no float64. Reductions of a warp have all
its threads as their mask. The agent that has these
kernels needs no library of CUDA, so that it also runs where there is no driver."""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("TRIBUTARY_BUILD_DIR", ROOT / "build" / "dev"))
AGENT = BUILD / "edge_agent/tributary-agent"
FOLDER = BUILD / "core/codec/cuda/gpu"
LIBRARY = FOLDER / "libtributary_cuda.a"
SKIPPED = 77  # as tests/CMakeLists.txt has it

REFUSED = {
    "a fused multiply-add": re.compile(r"^(?:fma\.|mad\.\w*\.?(?:f32|f64))"),
    "a flush of denormals": re.compile(r"\.ftz\b"),
    "an approximation": re.compile(r"\.approx\b|^div\.full\b"),
    "float64": re.compile(r"\.f64\b"),
}
# Kernels, as expressions of the names of their file and their function, that may use float64, each
# with the reason in a sentence. Nothing else has exceptions.
FLOAT64 = {
    r"_signs_cu_.*pack_scaled": "The specification adds magnitudes in float64, in the same order.",
    r"_qsgd_cu_.*norms_of_blocks": "The specification adds squares in float64, in the same order.",
    r"_lowrank_cu_.*(?:multiply_row_groups|multiply_column_tiles|expand_values)":
        "The specification of powersgd adds products in float64, in the same order.",
    r"_vector_cu_.*sum_squares_of_blocks": "The norm of an update is a report, added in float64.",
    r"_encode_cu_.*(?:survey_tiles|find_units)": "The specification of threelc adds squares in float64.",
}


def texts() -> list[str]:
    """The PTX of each .cu file that has kernels: beside clang's code, or as nvcc's linker embeds it."""
    if beside := sorted(FOLDER.glob("*.ptx")):
        return [with_file(file.stem.split(".")[0], file.read_text(encoding="ascii")) for file in beside]
    found = re.findall(rb"\.version \d+\.\d+\s+\.target sm_\d+[^\0]*", LIBRARY.read_bytes())
    return [text.decode("ascii", "replace") for text in found if b".entry" in text]


def with_file(name: str, text: str) -> str:
    """Names of kernels in an anonymous namespace with that of their file, as nvcc has them."""
    return text.replace("12_GLOBAL__N_1", f"_GLOBAL__N__{name}_cu_")


def instructions(text: str):
    """Each kernel or function with each of its instructions, in the order of the text."""
    function = ""
    for line in text.splitlines():
        if named := re.search(r"\.(?:entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)", line):
            function = named.group(1)
        line = re.sub(r"//.*", "", line).strip()
        line = re.sub(r"^@!?%p\d+\s+", "", line)
        if re.match(r"[a-z]", line):
            yield function, line.split()[0].rstrip(";")


def complaints(text: str, float64: dict[str, str]) -> list[str]:
    found = {}
    for function, instruction in instructions(text):
        may_double = any(re.search(kernel, function) for kernel in float64)
        for what, pattern in REFUSED.items():
            if pattern.search(instruction) and not (what == "float64" and may_double):
                key = (function, instruction, what)
                found[key] = found.get(key, 0) + 1
    return [f"{function} has {what}: {instruction}, {count} times; write the operations so that their "
            f"rounding is that of the specification" for (function, instruction, what), count in
            found.items()]


def wrong_masks(text: str) -> list[str]:
    """Reductions of a warp whose last operand, the mask, is not the constant of all 32 threads."""
    found, function, constants = [], "", set()
    for line in text.splitlines():
        if named := re.search(r"\.(?:entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)", line):
            function, constants = named.group(1), set()
        if constant := re.match(r"\s*mov\.[bsu]32\s+(%\w+), (?:-1|4294967295);", line):
            constants.add(constant.group(1))
        if (mask := re.search(r"\bredux\.sync\.[^;]*,\s*([-%\w]+);", line)) and (
                mask.group(1) not in {"-1", "4294967295", *constants}):
            found.append(f"{function}: {line.strip()} expects the mask as its last operand, and all threads in it")
    return found


def ptx_is_readable() -> bool:
    """Other presets compress it."""
    cache = BUILD / "CMakeCache.txt"
    return cache.exists() and "TRIBUTARY_ASSERTIONS:BOOL=ON" in cache.read_text(encoding="utf-8")


class Lint(unittest.TestCase):
    """The lint itself."""

    TEXT = """.version 9.0
.target sm_80
.visible .entry _Z3addPf(
\t.param .u64 p
)
{
\tld.global.f32 \t%f1, [%rd1];
\t@%p1 bra \t$L1;
"""

    def test_finds_each_kind(self):
        for bad in ("fma.rn.f32", "mad.rn.f32", "add.ftz.f32", "div.full.f32", "rcp.approx.f32",
                    "cvt.f64.f32"):
            with self.subTest(bad):
                found = complaints(f"{self.TEXT}\t@!%p2 {bad} \t%f2, %f1;\n}}\n", {})
                self.assertEqual(len(found), 1, found)
                self.assertIn("_Z3addPf has ", found[0])
                self.assertIn(bad, found[0])

    def test_leaves_the_rest(self):
        exact = "\tmad.lo.s32 \t%r1, %r2;\n\tdiv.rn.f32 \t%f1, %f2;\n\tst.f32 [x], %f1; // fma.rn\n"
        self.assertEqual(complaints(self.TEXT + exact, {}), [])

    def test_reductions_have_all_threads_as_their_mask(self):
        for last, count in (("%r2", 0), ("-1", 0), ("%r3", 1)):
            with self.subTest(last):
                text = f"{self.TEXT}\tmov.b32 \t%r2, -1;\n\tredux.sync.max.u32 %r4, %r3, {last};\n}}\n"
                self.assertEqual(len(wrong_masks(text)), count)

    def test_knows_exceptions(self):
        text = self.TEXT + "\tadd.f64 \t%d1, %d1;\n\tfma.rn.f64 \t%d1, %d1;\n"
        found = complaints(text, {"Z3add": "The specification adds in float64."})
        self.assertEqual(len(found), 1, found)
        self.assertIn("fused", found[0])


class Kernels(unittest.TestCase):
    def test_are_exact(self):
        found = texts()
        folder = ROOT / "core/codec/cuda"
        with_kernels = [file for file in [*folder.glob("*.cu"), *folder.glob("*/*.cu")]
                        if "__global__" in file.read_text(encoding="utf-8")]
        self.assertGreaterEqual(len(found), len(with_kernels),
                                "some file's PTX cannot be read; is it compressed?")
        self.assertEqual([line for text in found for line in complaints(text, FLOAT64)], [])
        self.assertEqual([line for text in found for line in wrong_masks(text)], [])
        self.assertTrue(any("redux.sync" in text for text in found))

    def test_exceptions_are_used(self):
        double = {function for text in texts()
                  for function, instruction in instructions(text) if ".f64" in instruction}
        for kernel, reason in FLOAT64.items():
            self.assertRegex(reason, r"^\w.*\.$", kernel)
            self.assertTrue(any(re.search(kernel, function) for function in double),
                            f"{kernel} has no float64: remove the exception")


class Agent(unittest.TestCase):
    def test_needs_no_library_of_cuda(self):
        needed = subprocess.run(["readelf", "-d", str(AGENT)], check=True, text=True,
                                capture_output=True).stdout
        self.assertIn("libzmq", needed)
        self.assertNotRegex(needed, r"libcuda|libcudart|libnv")


if __name__ == "__main__":
    if not LIBRARY.exists():
        print("no code for GPUs in this build: neither nvcc nor clang with CUDA 12")
        sys.exit(SKIPPED)
    if not ptx_is_readable():
        print("the PTX of this build is compressed; the preset dev is checked")
        sys.exit(SKIPPED)
    unittest.main()
