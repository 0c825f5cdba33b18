#!/usr/bin/env python3
"""Jobs behind a gateway in network namespaces: the aggregator in user space, and in the kernel in both
modes of XDP. The journal says by which collective each round was committed."""

import os
import sys
import unittest
from pathlib import Path

from federation import BUILD

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))
from gateway_lab import GatewayFederation, Impossible, Setup  # noqa: E402

SMALL = Setup(parameters=20_000, rounds=3)
LARGE = Setup(parameters=1_000_000, rounds=5)  # 4,900 results, of which a group must fail four times


class Gateway(unittest.TestCase):
    models = set()  # of all jobs, which differ in the aggregator or the collective only

    def run_job(self, setup: Setup, while_running=None) -> dict:
        """The aggregator's counters. All rounds must be by the setup's collective, with the same model in all
        tests."""
        try:
            with GatewayFederation(BUILD, setup) as federation:
                if while_running:
                    while_running(federation)
                federation.finish()
                if setup.rounds == SMALL.rounds:
                    self.assertEqual(federation.report()["collectives"], {setup.collective: setup.rounds})
                    Gateway.models |= federation.model_hashes()
                    self.assertEqual(len(Gateway.models), 1)
                else:
                    self.assertEqual(len(federation.model_hashes()), 1)
                counters = federation.counters() if setup.collective == "in_network" else {}
                self.assertFalse(federation.has_program())
                return counters
        except Impossible as reason:
            if os.environ.get("REQUIRE_XDP") == "1":
                self.fail(str(reason))
            self.skipTest(str(reason))

    def expect_sums(self, counters: dict, mode: str):
        self.assertEqual(counters["mode"], mode)
        self.assertGreater(counters["results"], 0)
        self.assertEqual(counters["contributions"], SMALL.agents * counters["results"])

    def test_in_user_space_with_results_by_multicast(self):
        counters = self.run_job(SMALL)
        self.expect_sums(counters, "user")
        # One datagram for all agents.
        self.assertEqual(counters["sent"], counters["results"] + counters["resent"])

    def test_the_star_has_the_same_model_with_the_same_buckets(self):
        # Its own buckets are larger (docs/in_network.md).
        self.run_job(SMALL._replace(collective="star", settings=("job.bucket_values=4096",)))

    def test_native_xdp(self):
        self.expect_sums(self.run_job(SMALL._replace(plane="native"), self.expect_a_program), "native")

    def test_generic_xdp_with_results_by_multicast(self):
        counters = self.run_job(SMALL._replace(plane="generic"), self.expect_a_program)
        self.expect_sums(counters, "generic")
        self.assertGreaterEqual(counters["reflected"], counters["results"])

    def test_a_dead_multicast_path_falls_to_unicast(self):
        for plane in ("user", "native"):
            with self.subTest(plane):
                counters = self.run_job(LARGE._replace(plane=plane, agents_group="239.255.1.8:4651"))
                self.expect_sums(counters, plane)
                self.assertGreaterEqual(counters["group_falls"], 1)
                # Most results went to each agent soon.
                self.assertLess(counters["resent"], LARGE.agents * counters["results"] / 3)

    def test_lost_packets_are_sent_again(self):
        counters = self.run_job(SMALL._replace(link="loss=5%"))
        self.expect_sums(counters, "user")
        self.assertGreater(counters["resent"], 0)

    def test_without_a_loss_hardly_anything_is_sent_again(self):
        # 490 packets of an agent in a round, over links that a process delays. When it did not keep up, agents
        # repeated a fifth to two fifths of them.
        setup = Setup(uplink="rate=1gbit", link="delay=100us", parameters=500_000, rounds=4)
        counters = self.run_job(setup)
        self.expect_sums(counters, "user")
        self.assertGreater(counters["results"], 1_900)
        self.assertLess(counters["repeats"], counters["contributions"] / 10)

    def test_a_killed_program_leaves_the_kernel_and_serves_again(self):
        def kill_and_start_again(federation: GatewayFederation):
            federation.wait_for_rounds("in_network", 1)
            federation.kill_gateway()
            self.assertFalse(federation.has_program())
            federation.wait_for_rounds("star", 1)
            before = federation.rounds_by("in_network")
            federation.start_aggregator()
            federation.wait_for_rounds("in_network", before + 2)
            federation.must("job", "stop", "gateway", "--run", "run.db")

        setup = SMALL._replace(plane="native", rounds=1_000_000, agent_settings=("trainer.train_ms=20",))
        self.run_job(setup, kill_and_start_again)

    def expect_a_program(self, federation: GatewayFederation):
        self.assertTrue(federation.has_program())


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    if len(result.skipped) == result.testsRun:
        print(result.skipped[0][1])
        sys.exit(77)
    sys.exit(not result.wasSuccessful())
