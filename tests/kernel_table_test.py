#!/usr/bin/env python3
"""The table of the GPU's kernels: reading ptxas and PTX, and occupancy as NVIDIA's tables have it."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/cuda"))
import kernels  # noqa: E402

OUTPUT = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_ZN9tributary4cuda12_GLOBAL__N_110to_16_bitsINS1_4HalfEEEvPKfjPtPj' for 'sm_87'
ptxas info    : Function properties for _ZN9tributary4cuda12_GLOBAL__N_110to_16_bitsINS1_4HalfEEEvPKfjPtPj
    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 21 registers, used 1 barriers, 8 bytes cumulative stack size, 32 bytes smem
ptxas info    : Compiling entry function '_Z4scanPfj' for 'sm_87'
ptxas info    : Function properties for _Z4scanPfj
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 40 registers, used 0 barriers
"""

PTX = """
.visible .entry _ZN9tributary4cuda12_GLOBAL__N_110to_16_bitsINS1_4HalfEEEvPKfjPtPj(
{
    ld.param.u64 %rd1, [first];
    ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];
    @%p1 st.global.v4.u32 [%rd2], {%r1, %r2, %r3, %r4};
    st.global.v2.u32 [%rd2], {%r1, %r2};
    ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%rd3];
}
.visible .entry _Z4scanPfj(
{
    ld.volatile.global.v2.u64 {%rd1, %rd2}, [%rd3];
    ld.global.f32 %f1, [%rd1];
}
"""


class Table(unittest.TestCase):
    def test_reads_ptxas_and_ptx(self):
        self.assertEqual(kernels.kernels(OUTPUT, PTX),
                         [kernels.Kernel("to_16_bits", 21, 32, 16, 8, 2, 3),
                          kernels.Kernel("scan", 40, 0, 0, 0, 1, 2)])

    def test_occupancy(self):
        for registers, shared, arch, share in ((32, 0, "90", 1.0), (48, 0, "90", 5 / 8),
                                               (48, 0, "87", 5 / 6), (128, 0, "90", 2 / 8),
                                               (32, 48 << 10, "87", 3 / 6), (255, 0, "80", 1 / 8)):
            with self.subTest(f"{registers} registers, {shared} bytes, sm_{arch}"):
                kernel = kernels.Kernel("k", registers, shared, 0, 0, 0, 0)
                self.assertEqual(kernels.occupancy(kernel, kernels.MULTIPROCESSORS[arch]), share)

    def test_spills_stack_and_a_low_occupancy_are_named(self):
        good = kernels.Kernel("k", 40, 0, 0, 0, 0, 0)
        for change, share, found in (({}, 0.5, 0), ({"spill_bytes": 4}, 1.0, 1), ({"stack_bytes": 8}, 1.0, 1),
                                     ({}, 0.49, 1)):
            with self.subTest(change, share=share):
                named = kernels.misses("file/k", {"87": good._replace(**change)}, {"87": share})
                self.assertEqual(len(named), found)

    @unittest.skipUnless(shutil.which("nvcc"), "no nvcc on the path")
    def test_check_fails_for_a_kernel_with_a_stack(self):
        """An array that is read at an unknown place cannot lie in registers."""
        with tempfile.TemporaryDirectory() as folder:
            results = []
            for indices in ("", "[at[i]]"):
                source = Path(folder) / "planted.cu"
                source.write_text("""
                    __global__ void planted(const int* at, float* x) {
                      float local[64];
                      for (int i = 0; i < 64; ++i) local[i] = x[i];
                      for (int i = 0; i < 64; ++i) x[i] = INDEXED;
                    }""".replace("INDEXED", f"local{indices}" if indices else "2 * local[i]"), encoding="utf-8")
                results.append(subprocess.run(
                    [sys.executable, "-B", str(ROOT / "bench/cuda/kernels.py"), "--compiler", "nvcc", "--arch", "87",
                     "--check", str(source)], check=False, text=True, capture_output=True))
            self.assertEqual([ran.returncode for ran in results], [0, 1], results)
            self.assertIn("/planted, sm_87: ", results[1].stdout)

    def test_flags_are_those_of_the_library(self):
        self.assertIn("--fmad=false", kernels.project_flags("nvcc"))
        self.assertIn("-ffp-contract=off", kernels.project_flags("clang"))
        for compiler in ("nvcc", "clang"):
            self.assertNotIn("Werror", " ".join(kernels.project_flags(compiler)))


if __name__ == "__main__":
    unittest.main()
