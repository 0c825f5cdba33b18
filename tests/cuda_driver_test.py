#!/usr/bin/env python3
"""Programs with code for GPUs find NVIDIA's driver at run time. With the emulated one (a libcuda.so.1
that runs the kernels on the emulated device) the path of a GPU runs from end to end: device code is
loaded, kernels are found in it and started, and a job's journal names the GPU. Without a driver, and
with one that cannot be used, a program says why and uses the host."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from federation import AGENT, BUILD, LATE_S, Processes, all_set, ask

FOLDER = BUILD / "core/codec/cuda/gpu"
DRIVER = FOLDER / "emulated_driver"
TESTS = FOLDER / "core_codec_cuda_gpu_test"
SKIPPED = 77  # as tests/CMakeLists.txt has it
ROUNDS = 3
# Whole exchanges with a codec of each family, in buckets of a few tiles.
ONE_OF_EACH_FAMILY = ":".join(
    f"*CodecsOnDevice.GiveTheSameBytesOfAFewTiles/{codec}" for codec in
    ("fp16", "int8_shared", "topk", "gcomp", "onebit*", "threelc_by*", "thc_gran*", "powersgd", "qsgd"))


def environment(options: str = "", driver: Path = DRIVER) -> dict:
    return {**os.environ, "LD_LIBRARY_PATH": str(driver), "TRIBUTARY_EMULATED_DRIVER": options}


def output_of_tests(env: dict, cases: str) -> str:
    done = subprocess.run([str(TESTS), f"--gtest_filter={cases}"], env=env, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LATE_S)
    assert done.returncode == 0, done.stdout
    return done.stdout


class Driver(unittest.TestCase):
    def test_runs_the_kernels(self):
        output = output_of_tests(environment(), ONE_OF_EACH_FAMILY)
        self.assertNotIn("SKIPPED", output)
        for family in ("fp16", "int8_shared", "topk", "gcomp", "onebit", "threelc", "thc", "powersgd"):
            self.assertRegex(output, rf"OK \] .*/{family}")

    def reason(self, options: str, driver: Path = DRIVER) -> str:
        """Why a program that asks for a GPU finds none."""
        output = output_of_tests(environment(options, driver), "*CodecsFromDevice.NameABadValue/fp16")
        self.assertIn("SKIPPED", output)
        return output

    def test_that_cannot_be_used_is_named(self):
        for options, got in (("version=11040", "got a driver for CUDA 11.4"), ("devices=0", "got no GPU"),
                             ("capability=75", "got compute capability 7.5"),
                             ("fail=cuInit:999", "got an error of the emulated driver"),
                             ("fail=cuDevicePrimaryCtxRetain:2", "got out of memory"),
                             ("fail=cuModuleLoadData:209", "loading device code")):
            with self.subTest(options):
                self.assertIn(got, self.reason(options))

    def test_that_is_missing_or_incomplete_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "libcuda.so.1"
            path.write_bytes(b"not a library")
            self.assertIn("got no driver: ", self.reason("", path.parent))
            other = subprocess.run(["c++", "-print-file-name=libstdc++.so.6"], text=True, check=True,
                                  stdout=subprocess.PIPE).stdout.strip()
            path.write_bytes(Path(other).read_bytes())
            self.assertIn("got libcuda.so.1 without cuDriverGetVersion", self.reason("", path.parent))

    def test_error_of_a_later_call_is_one_of_the_device(self):
        """Every call that can fail does, and the codecs go on with the host."""
        for function in ("cuMemAlloc_v2:2", "cuStreamCreate:2", "cuLaunchKernel:719",
                         "cuStreamSynchronize:719", "cuModuleGetFunction:500"):
            with self.subTest(function), tempfile.TemporaryDirectory() as folder:
                self.assertEqual(job(folder, "cuda", environment(f"fail={function}"))[1], "host")


def job(folder: str, device: str, *environments: dict) -> tuple:
    """The hash of a job's model, and the device that the journal names for each agent: one for each
    environment."""
    with Processes(folder) as run:
        coordinator, endpoint = run.start_coordinator("--exit-when-done", *all_set(
            "link.encrypted=false", f"journal.file={folder}/coordinator.db", "job.name=test",
            f"job.rounds={ROUNDS}", "job.codec=thc", "job.parameters=10000", "job.bucket_values=4096",
            f"job.agents_min={len(environments)}", "job.quorum=1"))
        agents = [run.start(f"agent-{i}", AGENT, "--exit-when-done", *all_set(
            f"agent_id=agent-{i}", "link.encrypted=false", f"link.coordinator={endpoint}",
            f"journal.file={folder}/agent-{i}.db", f"codec.device={device}"), env=env)
            for i, env in enumerate(environments)]
        for process in (*agents, coordinator):
            assert process.wait(LATE_S) == 0, run.logs()
        # The reports on the round before the last one are stored with the last one.
        shown = ask("job", "show", "test", "--run", f"{folder}/coordinator.db", "--round", ROUNDS - 1)
        devices = [list(shown["mechanisms"]["agents"][f"agent-{i}"]["buckets_by_device"])
                   for i in range(len(agents))]
        assert all(len(each) == 1 for each in devices), shown
        return shown["last_round"]["model_hash"], *(each[0] for each in devices)


class Job(unittest.TestCase):
    def model(self, device: str, *environments: dict) -> tuple:
        with tempfile.TemporaryDirectory() as folder:
            return job(folder, device, *environments)

    def test_is_the_same_with_a_driver_and_without(self):
        without = {**os.environ, "LD_LIBRARY_PATH": ""}
        expected, device = self.model("host", without)
        self.assertEqual(device, "host")
        self.assertEqual(self.model("cuda", environment()), (expected, "cuda"))
        self.assertEqual(self.model("cuda", environment("version=11040")), (expected, "host"))

    def test_of_two_agents_on_one_gpu(self):
        """One of them finds its memory full, which costs it the GPU and nothing else."""
        expected = self.model("host", environment(), environment())[0]
        self.assertEqual(self.model("cuda", environment(), environment()), (expected, "cuda", "cuda"))
        self.assertEqual(self.model("cuda", environment(), environment("fail=cuMemAlloc_v2:2")),
                         (expected, "cuda", "host"))


if __name__ == "__main__":
    if not TESTS.exists():
        print("no code for GPUs in this build: neither nvcc nor clang with CUDA 12")
        sys.exit(SKIPPED)
    unittest.main()
