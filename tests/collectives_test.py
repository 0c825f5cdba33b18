#!/usr/bin/env python3
"""What bench/collectives.py makes of the figures that ranks print, and how it asks for links."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))
import collectives  # noqa: E402


def rank(*round_s: float, cpu_s: float = 1.0, sums_hash: str = "a", late_s: float = 0) -> dict:
    began_s = [100 * number + late_s for number, _ in enumerate(round_s)]
    return {"round_s": list(round_s), "began_s": began_s, "rounds": len(round_s), "bytes": 500_000_000,
            "cpu_user_s": cpu_s / 4, "cpu_system_s": cpu_s * 3 / 4,
            "bytes_sent": 750_000_000 * len(round_s), "sums_hash": sums_hash}


class Links(unittest.TestCase):
    def test_a_packet_crosses_two_links(self):
        link = collectives.Link("far", 100, 10)
        self.assertEqual(link.options(), ["--rate", "100mbit", "--delay", "5ms"])
        self.assertEqual(collectives.Link("near").options(), [])

    def test_bound_of_a_ring(self):
        # 1.5 times 25 MB over 12.5 MB/s, and 10 ms.
        link = collectives.Link("far", 100, 10)
        self.assertAlmostEqual(link.bound_s(4, 25_000_000), 3.01)
        self.assertIsNone(collectives.Link("near").bound_s(4, 25_000_000))

    def test_settings_are_twelve_and_differ(self):
        self.assertEqual(len({(link, kept) for link, kept in collectives.SETTINGS}), 12)

    def test_rounds_fit_into_the_time(self):
        self.assertEqual(collectives.rounds_for(0.5, 5), 10)
        self.assertEqual(collectives.rounds_for(30, 5), 3)
        self.assertEqual(collectives.rounds_for(None, 60), 20)


class CostsOfPayloads(unittest.TestCase):
    def test_come_from_a_round_of_small_buckets_and_one_of_large_ones(self):
        own_s, way_s, byte_s, ends = 5e-6, 20e-6, 3e-9, 12  # four nodes

        def round_of(buckets: int, values: int, codec_s: float) -> collectives.RoundCost:
            return collectives.RoundCost(buckets * (ends * own_s + codec_s),
                                         buckets * ends * (way_s + byte_s * 4 * values))

        costs = collectives.costs_from(round_of(*collectives.SMALL, 0),
                                       round_of(*collectives.LARGE, 1e-3), 4)
        self.assertAlmostEqual(costs.byte_ns, 3)
        self.assertAlmostEqual(costs.message_us, 25 + 3e-3 * 4 * collectives.SMALL[1])

    def test_are_never_negative(self):
        cost = collectives.RoundCost(0.1, 0.1)
        self.assertEqual(collectives.costs_from(cost, cost._replace(way_s=0), 4).byte_ns, 0)


class Summary(unittest.TestCase):
    def test_a_round_takes_as_long_as_its_slowest_rank(self):
        figures = collectives.summary([[rank(1, 5, 2), rank(4, 1, 3)], [rank(9, 9, 9), rank(1, 1, 1)]])
        self.assertEqual(figures.round_s, 7)  # of 4, 5, 3, 9, 9, 9

    def test_a_round_begins_with_its_last_rank(self):
        # The first one waits for the second, which the barrier lets go 3 s later.
        self.assertEqual(collectives.round_times([rank(8, 8), rank(5, 6, late_s=3)]), [5, 6])

    def test_cpu_is_counted_per_byte(self):
        figures = collectives.summary([[rank(1, 1, cpu_s=3), rank(1, 1, cpu_s=1)]])
        self.assertAlmostEqual(figures.cpu_s_per_gb, 2)
        self.assertAlmostEqual(figures.cpu_s_per_gb_sent, 4 / 3)
        self.assertEqual(figures.bytes_sent, 750_000_000)

    def test_ranks_that_disagree_are_found(self):
        collectives.check_agreement("x", [rank(1), rank(1)])
        with self.assertRaisesRegex(collectives.Failure, "different sums"):
            collectives.check_agreement("x", [rank(1), rank(1, sums_hash="b")])


class Comparison(unittest.TestCase):
    def test_ratios_are_to_the_best_of_gloo(self):
        link = collectives.Link("100mbit", 100)
        figures = {collectives.Contender("gloo", "ring"): collectives.Figures(4, 1, 1, 1),
                   collectives.Contender("gloo", "bcube"): collectives.Figures(2, 1, 1, 1),
                   collectives.Contender("tributary", "ring"): collectives.Figures(3, 1, 1, 1)}
        rows = {row["contender"]: row
                for row in collectives.comparison(link, 2, 12_500_000, figures)}
        self.assertEqual(rows["tributary ring"]["to_best_gloo"], 1.5)
        self.assertEqual(rows["tributary ring"]["to_bound"], 3)

    def test_without_gloo_there_is_no_ratio(self):
        figures = {collectives.Contender("tributary", "ring"): collectives.Figures(3, 1, 1, 1)}
        row = collectives.comparison(collectives.Link("near"), 4, 1000, figures)[0]
        self.assertIsNone(row["to_best_gloo"])
        self.assertIsNone(row["to_bound"])


if __name__ == "__main__":
    unittest.main()
