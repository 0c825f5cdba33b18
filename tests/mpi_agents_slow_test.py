#!/usr/bin/env python3
"""A coordinator and agents that mpirun has started: they exchange over MPI, and join, commit and end as
all others do."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from federation import AGENT, BUILD, CLI, LATE_S, Processes, all_set
from mpi_slow_test import ENVIRONMENT, main_with

AGENT_MPI = BUILD / "edge_agent/mpi/tributary-agent-mpi"


class Federation(Processes):
    """Encrypted, with a join file for each agent."""

    def __init__(self, folder: str):
        super().__init__(folder)
        self.endpoint = ""
        self.run(CLI, "keys", "new", "--out", "coordinator.key")
        (self.folder / "agents.allow").touch()

    def start_with(self, *settings: str) -> subprocess.Popen:
        at = self.folder
        job = ("job.name=test", "job.parameters=10000", "job.bucket_values=1024", "job.collective=ring",
               "job.deadline_ms=60000", *settings)
        process, self.endpoint = self.start_coordinator("--exit-when-done", *all_set(
            f"link.key_file={at}/coordinator.key", f"link.allow_file={at}/agents.allow",
            f"journal.file={at}/coordinator.db", *job))
        return process

    def join(self, agents: int):
        for i in range(agents):
            self.run(CLI, "keys", "join", f"agent-{i}", "--coordinator", self.endpoint,
                     "--coordinator-key-file", "coordinator.key.pub", "--list", "agents.allow")
        # The coordinator reads its list again.
        self.processes[0].send_signal(signal.SIGHUP)
        self.wait_for("coordinator", "allow-list read again")

    def agent_words(self, number, *settings: str) -> list:
        return ["--join", f"{self.folder}/agent-{number}.join", "--exit-when-done", *all_set(
            f"journal.file={self.folder}/agent-{number}.db", "audit=true", *settings)]

    def start_ranks(self, ranks: int, *settings: str) -> subprocess.Popen:
        # mpirun gives those that it ends a second, unless it is told otherwise; as long it waits
        # before it tells them.
        own = f"{self.folder}/agent-$OMPI_COMM_WORLD_RANK"
        own_log = f'echo $$ >{own}.pid; exec "$@" 2>{own}.log'
        return self.start("mpirun", "mpirun", "--mca", "odls_base_sigkill_timeout", "5", "-n", ranks,
                          "sh", "-c", own_log, "sh", AGENT_MPI, *self.agent_words(
                              "%r", "peers.transport=mpi", *settings), env=ENVIRONMENT)

    def rounds_by(self, collective: str) -> int:
        return len(re.findall(f"round committed .*collective={collective} ", self.log("coordinator")))


class Agents(unittest.TestCase):
    def federation(self) -> Federation:
        folder = tempfile.mkdtemp(prefix="tributary-mpi-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        return Federation(folder)

    def expect_ended(self, federation: Federation, *processes: subprocess.Popen):
        for process in processes:
            try:
                process.wait(LATE_S)
            except subprocess.TimeoutExpired:
                self.fail(f"{process.args} does not end: {federation.logs()}")
            self.assertEqual(process.returncode, 0, federation.logs())

    def expect_sound(self, federation: Federation, agents: int, rounds: int):
        """All have the last model, the same one, and nothing of an update is lost."""
        hashes = set()
        for i in range(agents):
            stored = re.findall(r"model stored .*model_version=(\d+) model_hash=(\w+)",
                                federation.log(f"agent-{i}"))
            self.assertEqual(stored[-1][0], str(rounds), federation.logs())
            hashes.add(stored[-1][1])
            self.assertIn("conservation holds", federation.log(f"agent-{i}"))
        self.assertEqual(len(hashes), 1, federation.logs())

    def test_all_rounds_go_over_mpi(self):
        with self.federation() as federation:
            coordinator = federation.start_with("job.rounds=8", "job.agents_min=4")
            federation.join(4)
            ranks = federation.start_ranks(4)
            self.expect_ended(federation, ranks, coordinator)
            self.assertEqual(federation.rounds_by("ring"), 8, federation.logs())
            self.expect_sound(federation, 4, 8)
            for i in range(4):
                self.assertRegex(federation.log(f"agent-{i}"),
                                 rf"peers are not encrypted.*endpoint=\"?mpi://[0-9a-f]{{16}}/{i}")

    def test_the_star_stands_in_where_one_is_not_under_mpirun(self):
        with self.federation() as federation:
            coordinator = federation.start_with("job.rounds=5", "job.agents_min=4")
            federation.join(4)
            ranks = federation.start_ranks(3)
            alone = federation.start("agent-3", AGENT, *federation.agent_words(
                3, "peers.endpoint=tcp://127.0.0.1:0"))
            self.expect_ended(federation, ranks, alone, coordinator)
            self.assertEqual(federation.rounds_by("star"), 5, federation.logs())
            self.expect_sound(federation, 4, 5)

    def test_all_end_in_order_when_mpirun_is_told_to(self):
        for told in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(told), self.federation() as federation:
                federation.start_with("job.rounds=1000000", "job.agents_min=4")
                federation.join(4)
                ranks = federation.start_ranks(4)
                federation.wait_for("coordinator", "round committed .*collective=ring ", 3)
                ranks.send_signal(told)
                ranks.wait(LATE_S)
                for i in range(4):
                    log = federation.log(f"agent-{i}")
                    self.assertIn("stopped by a signal", log, federation.logs())
                    self.assertRegex(log.splitlines()[-1], r" stopped .*model_version=",
                                     federation.logs())

    def test_all_end_when_one_is_killed_and_go_on_together(self):
        with self.federation() as federation:
            coordinator = federation.start_with("job.rounds=40", "job.agents_min=4")
            federation.join(4)
            ranks = federation.start_ranks(4, "trainer.train_ms=20")
            federation.wait_for("coordinator", "round committed .*collective=ring ", 3)
            victim = (federation.folder / "agent-1.pid").read_text(encoding="utf-8")
            os.kill(int(victim), signal.SIGKILL)
            ranks.wait(LATE_S)
            self.assertNotEqual(ranks.returncode, 0)
            self.assertIsNone(coordinator.poll(), federation.logs())
            again = federation.start_ranks(4)
            self.expect_ended(federation, again, coordinator)

    def test_what_cannot_be_says_what_to_do(self):
        def refused(program, words: str, *settings: str):
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run(
                    [program, *all_set(
                        "agent_id=a", f"journal.file={folder}/a.db", "link.encrypted=false",
                        "link.coordinator=tcp://127.0.0.1:1", *settings)],
                    check=False, text=True, capture_output=True, timeout=LATE_S)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(words, done.stderr)

        refused(AGENT, "tributary-agent-mpi", "peers.transport=mpi")
        refused(AGENT, "tcp or mpi", "peers.transport=udp")
        refused(AGENT_MPI, "mpirun -n 4", "peers.transport=mpi")


if __name__ == "__main__":
    main_with(AGENT_MPI)
