#!/usr/bin/env python3
"""Meshes and exchanges over MPI, with four ranks that mpirun starts on this machine."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD = Path(os.environ.get("TRIBUTARY_BUILD_DIR", "build/dev"))
RANKS = BUILD / "tests/mpi/tributary_mpi_ranks"
BENCH = BUILD / "bench/collective/tributary-bench-collective"
# Only shared memory: the other networks of the machine are not under test. By default Open MPI refuses
# more ranks than cores, and root.
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_pml": "ob1",
               "OMPI_MCA_btl": "self,vader"}
LATE_S = 240


def main_with(program: Path) -> None:
    """Runs the calling script's tests, or skips them where the program or mpirun is missing."""
    if not program.exists():
        print("this build has no MPI: it is not for sanitizers, and needs libopenmpi-dev")
        sys.exit(77)
    if shutil.which("mpirun") is None:
        print("no mpirun; Debian has it as openmpi-bin")
        sys.exit(77)
    unittest.main()


def mpirun(*command: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run(["mpirun", "-n", "4", *command], env=ENVIRONMENT, check=False, text=True,
                          stdin=subprocess.DEVNULL, timeout=LATE_S, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **options)


def bench(*options: str) -> list:
    """What each rank has printed; mpirun keeps them apart in files."""
    with tempfile.TemporaryDirectory() as folder:
        done = mpirun("--output-filename", folder, str(BENCH), "--transport", "mpi", "--bytes",
                      "1000004", "--rounds", "2", "--warm-ups", "1", *options, "--json")
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(options)}: {done.stdout}")
        return [json.loads(path.read_text(encoding="utf-8"))["data"]
                for path in sorted(Path(folder).glob("*/rank.*/stdout"))]


class Ranks(unittest.TestCase):
    def test_meshes_and_exchanges(self):
        done = mpirun("--tag-output", str(RANKS), "--gtest_color=no")
        self.assertEqual(done.returncode, 0, done.stdout[-8000:])
        # Every codec there is, beside the mesh's own cases and an agent's peer link.
        for case in ("EveryRankGetsWhatOthersSendInOrder", "EpochsOfAllAndOfSomeFollowOneAnother",
                     "EndsWithTheSpecifiedBytes/fp32",
                     "EndsWithTheSpecifiedBytes/gcomp", "EndsWithTheSpecifiedBytes/thc",
                     "EndsWithTheSpecifiedBytes/topk", "EndsWithTheSpecifiedBytes/star_topk"):
            passed = [line for line in done.stdout.splitlines() if "[       OK ]" in line
                      and case in line.split(" (")[0]]
            self.assertGreaterEqual(len(passed), 4, f"{case}: {done.stdout[-8000:]}")

    def test_without_mpirun_there_is_one_rank(self):
        done = subprocess.run([str(RANKS)], env=ENVIRONMENT, check=False, text=True,
                              capture_output=True, timeout=LATE_S)
        self.assertEqual(done.returncode, 2)
        self.assertIn("mpirun -n 4", done.stderr)


class Bench(unittest.TestCase):
    def test_sums_are_verified_and_agree(self):
        for options in (("--algorithm", "ring"), ("--algorithm", "mpi_allreduce"),
                        ("--algorithm", "tree", "--codec", "gcomp", "--bucket-values", "1001")):
            with self.subTest(options):
                ranks = bench(*options)
                self.assertEqual([rank["rank"] for rank in ranks], [0, 1, 2, 3])
                self.assertEqual({rank["size"] for rank in ranks}, {4})
                self.assertEqual(len({rank["sums_hash"] for rank in ranks}), 1)

    def with_a_fault(self, signal: str, *options: str) -> str:
        """What the ranks print if rank 2 gets the signal during an exchange, without end otherwise."""
        with tempfile.TemporaryDirectory() as folder:
            # MPI waits for a rank without end until all are connected, so the signal comes later.
            faulty = (f'ready={folder}/$OMPI_COMM_WORLD_RANK; if [ "$OMPI_COMM_WORLD_RANK" = 2 ]; '
                      f'then (until [ -e $ready ]; do sleep 0.1; done; sleep 0.5; kill -{signal} $$) & '
                      'fi; exec "$@" --ready $ready >/dev/null')
            done = mpirun("sh", "-c", faulty, "sh", str(BENCH), "--transport", "mpi", "--rounds",
                          "100000", "--bytes", "1000004", *options)
        self.assertNotEqual(done.returncode, 0)
        return done.stdout

    def test_all_end_when_one_is_killed(self):
        self.assertIn("signal 9", self.with_a_fault("KILL"))

    def test_all_end_when_one_hangs(self):
        self.assertIn("no messages from members", self.with_a_fault("STOP", "--timeout-s", "3"))

    def refused(self, words: str, *options: str):
        done = subprocess.run([str(BENCH), *options], env=ENVIRONMENT, check=False, text=True,
                              capture_output=True, timeout=LATE_S)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(words, done.stderr)

    def test_what_goes_with_which_transport(self):
        mpi = ("--transport", "mpi")
        self.refused("--rank", *mpi, "--rank", "0")
        self.refused("--store", *mpi, "--store", ".")
        self.refused("--encrypted", *mpi, "--encrypted")
        self.refused("mpi_allreduce", *mpi, "--algorithm", "mpi_allreduce", "--codec", "gcomp")
        self.refused("--store", "--rank", "0", "--size", "1", "--address", "127.0.0.1")
        self.refused("--transport", "--transport", "udp")


if __name__ == "__main__":
    main_with(RANKS)
