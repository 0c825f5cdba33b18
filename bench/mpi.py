#!/usr/bin/env python3
"""Collectives of ours over MPI, beside MPI's own all-reduce and ours over TCP on loopback: ranks on
this machine alone, started by Open MPI's mpirun.

In each repetition every contender runs once. The time of a round is that of its slowest rank, and the
output shows the median. CPU is that of one rank's process during rounds; it includes MPI's waiting.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import collectives
from lab_nodes import answers_of

ALGORITHMS = ["sharded_star", "ring", "halving_doubling"]
# Open MPI refuses more ranks than cores, and root, without these variables
# (tests/mpi_slow_test.py).
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_pml": "ob1"}


class Contender:
    def __init__(self, transport: str, algorithm: str, networks: str = "self,vader"):
        self.transport, self.algorithm, self.networks = transport, algorithm, networks

    def name(self) -> str:
        over = {"self,vader": "shared memory", "self,tcp": "TCP"}[self.networks]
        if self.transport == "tcp":
            return f"tributary {self.algorithm}, TCP"
        if self.algorithm == "mpi_allreduce":
            return f"MPI_Allreduce, MPI by {over}"
        return f"tributary {self.algorithm}, MPI by {over}"

    def run(self, arguments) -> list:
        options = ["--algorithm", self.algorithm, "--bytes", str(arguments.bytes),
                   "--rounds", str(arguments.rounds), "--json"]
        if self.algorithm != "mpi_allreduce":
            options += ["--bucket-values", str(collectives.BUCKET_VALUES)]
        with tempfile.TemporaryDirectory() as folder:
            by = self._by_mpirun if self.transport == "mpi" else self._by_hand
            data = by(arguments, Path(folder), options)
        if len(data) != arguments.ranks:
            raise collectives.Failure(f"{self.name()}: {len(data)} ranks have answered")
        collectives.check_agreement(self.name(), data)
        return data

    def _by_mpirun(self, arguments, folder: Path, options: list) -> list:
        done = subprocess.run(
            ["mpirun", "-n", str(arguments.ranks), "--output-filename", str(folder),
             str(arguments.program), "--transport", "mpi", *options],
            env={**ENVIRONMENT, "OMPI_MCA_btl": self.networks}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=600)
        if done.returncode != 0:
            raise collectives.Failure(f"{self.name()}: {done.stdout.strip()}")
        return [json.loads(path.read_text(encoding="utf-8"))["data"]
                for path in sorted(folder.glob("*/rank.*/stdout"))]

    def _by_hand(self, arguments, folder: Path, options: list) -> list:
        answers = answers_of(
            [[str(arguments.program), "--rank", str(rank), "--size", str(arguments.ranks), "--store",
              str(folder), "--address", "127.0.0.1", *options] for rank in range(arguments.ranks)], self.name(), 600)
        return [answer["data"] for answer in answers]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build/release"),
                        help="where the programs are (build/release)")
    parser.add_argument("--ranks", type=int, default=4, help="on this machine (4)")
    parser.add_argument("--bytes", type=int, default=25 * collectives.MIB,
                        help="of float32 (25 MiB)")
    parser.add_argument("--rounds", type=int, default=20, help="in a turn (20)")
    parser.add_argument("--repetitions", type=int, default=5, help="turns of every contender (5)")
    arguments = parser.parse_args()
    arguments.program = arguments.build / "bench/collective/tributary-bench-collective"
    if not arguments.program.exists():
        sys.exit(f"mpi: no program {arguments.program}; "
                 "./dev build --preset release tributary_bench_collective")
    if shutil.which("mpirun") is None:
        sys.exit("mpi: no mpirun; Debian has it as openmpi-bin")
    return arguments


def main() -> int:
    arguments = parse()
    contenders = []
    for networks in ("self,vader", "self,tcp"):
        contenders += [Contender("mpi", name, networks) for name in ["mpi_allreduce", *ALGORITHMS]]
    contenders += [Contender("tcp", name) for name in ALGORITHMS]
    runs = {contender: [] for contender in contenders}
    try:
        for _ in range(arguments.repetitions):
            for contender in contenders:
                runs[contender].append(contender.run(arguments))
    except collectives.Failure as failure:
        sys.exit(f"mpi: {failure}")
    print(f"{arguments.ranks} ranks, {arguments.bytes} bytes of float32, "
          f"{arguments.repetitions} times {arguments.rounds} rounds\n"
          f"{'':48} {'median':>10} {'CPU s/GB':>9}")
    for contender, done in runs.items():
        figures = collectives.summary(done)
        print(f"{contender.name():48} {figures.round_s * 1e3:7.1f} ms {figures.cpu_s_per_gb:9.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
