#!/usr/bin/env python3
"""Races of ./dev bench plan: what is cut off, who runs with all seeds, what a stopped run measures
again, and the verdicts."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench/planning"))
from race import ADAPTIVE, CUT, Race  # noqa: E402
from rows import MET, MISSED, NOT_MEASURED  # noqa: E402
from store import Store  # noqa: E402

TIMES = {ADAPTIVE: 10.5, "good": 10.0, "near": 12.0, "slow": 24.0, "hopeless": 500.0, "worse": 900.0}
FIXED = [name for name in TIMES if name != ADAPTIVE]


class Races(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.file = Path(temporary.name) / "results.jsonl"
        self.times, self.ran = dict(TIMES), []

    def run_one(self, choice: str, seed: int, limit_s: float):
        self.ran.append((choice, seed, limit_s))
        return self.times[choice] if self.times[choice] <= limit_s else None

    def race(self, resume: bool = False) -> Race:
        return Race(Store(self.file, resume), "c1", FIXED, self.run_one)

    def hold(self, race: Race, seeds: list):
        with contextlib.redirect_stdout(io.StringIO()):
            race.hold(seeds, 90)

    def verdicts(self, race: Race, seeds: list) -> list:
        return [row.verdict for row in race.rows(seeds, "c1", 1.10, median=True)]

    def test_choices_that_are_far_behind_are_cut_off(self):
        race = self.race()
        self.hold(race, [1, 2])
        limits = {choice: limit for choice, seed, limit in self.ran if seed == 1}
        self.assertEqual(limits[ADAPTIVE], 90)
        self.assertEqual(limits["hopeless"], CUT * 10.0)
        self.assertEqual(race.finalists(1), ["good", "near"])
        self.assertEqual([choice for choice, seed, _ in self.ran if seed == 2], [ADAPTIVE, "good", "near"])

    def test_verdicts(self):
        race = self.race()
        self.assertEqual(self.verdicts(race, [1]), [NOT_MEASURED, NOT_MEASURED])
        self.hold(race, [1])
        self.assertEqual(self.verdicts(race, [1]), [MET, MET])
        self.assertIn("1.05 (10.5 s, good 10.0 s, 1 seeds)", race.rows([1], "c1", 1.10, True)[0].measured)
        self.assertEqual(self.verdicts(race, [1, 2]), [NOT_MEASURED, MET], "the second seed is missing")

    def test_a_median_that_was_cut_off_is_a_bound(self):
        self.times["slow"] = 400.0
        race = self.race()
        self.hold(race, [1])
        self.assertTrue(race.rows([1], "c1", 1.10, True)[1].measured.startswith("at most 0.42"))

    def test_a_planner_that_never_arrives_misses(self):
        self.times[ADAPTIVE] = 1000.0
        race = self.race()
        self.hold(race, [1])
        self.assertEqual(self.verdicts(race, [1]), [MISSED, NOT_MEASURED])

    def test_a_stopped_run_goes_on(self):
        self.hold(self.race(), [1])
        self.ran.clear()
        with self.file.open("a", encoding="utf-8") as file:
            file.write('{"key": "c1/go')  # it was stopped here
        self.hold(self.race(resume=True), [1, 2])
        self.assertEqual([seed for _, seed, _ in self.ran], [2, 2, 2])
        self.ran.clear()
        self.hold(self.race(resume=True), [1, 2])
        self.assertEqual(self.ran, [], "everything is in the file")
        self.hold(self.race(), [1])
        self.assertEqual(len(self.ran), len(TIMES), "without --resume everything is measured again")


if __name__ == "__main__":
    unittest.main()
