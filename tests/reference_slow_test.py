#!/usr/bin/env python3
"""The simulator gives the results recorded in tests/reference, and differences are reported.

usage: reference_slow_test.py [--rest]

  --rest    the second seed of the scenarios that are cut (reference.CUTS), which every run leaves out
"""

import os
import sys
import unittest
from pathlib import Path

import reference

BUILD = Path(os.environ.get("TRIBUTARY_BUILD_DIR", "build/dev"))
SEEDS = 4


class Demonstration(unittest.TestCase):
    def test_the_first_seed_learns_the_same_models(self):
        known = reference.json.loads(reference.MODELS.read_text(encoding="utf-8"))["demonstration"]
        self.assertEqual(len(known), reference.MODEL_SEEDS)
        found = {"1": reference.demonstrate(BUILD, 1)}
        self.assertEqual(reference.differences("demonstration", known, found), [])


class Simulator(unittest.TestCase):
    def setUp(self):
        self.known = reference.json.loads(reference.RESULTS.read_text(encoding="utf-8"))

    def test_every_scenario_has_results(self):
        self.assertEqual(set(reference.scenarios()), set(self.known))
        for name, runs in self.known.items():
            self.assertEqual(len(runs), reference.seeds_of(name, reference.SEEDS), name)

    def test_the_first_seeds_end_as_they_did(self):
        for name in reference.scenarios():
            with self.subTest(name):
                seeds = 1 if name in reference.CUTS else SEEDS
                found = reference.simulate(BUILD, name, seeds)
                self.assertEqual(reference.differences(name, self.known[name], found), [])

    def test_another_seed_is_told(self):
        runs = self.known["calm"]
        self.assertRegex(
            reference.differences("calm", {"1": runs["2"]}, {"1": runs["1"]})[0],
            "^calm, seed 1: state_hash: expected [0-9a-f]{16}, found [0-9a-f]{16}")
        self.assertRegex(reference.differences("calm", {}, {"1": runs["1"]})[0], "--record")

    def test_a_cut_names_keys_of_its_scenario(self):
        self.assertEqual(reference.cut("a = 1\nb = 20\n", {"b": 3}), "a = 1\nb = 3\n")
        with self.assertRaisesRegex(reference.Failure, "rounds"):
            reference.cut("a = 1\n", {"rounds": 3})

    def test_a_scenario_that_is_not_there(self):
        with self.assertRaisesRegex(reference.Failure, "absent"):
            reference.simulate(BUILD, "absent", 1)


class Rest(unittest.TestCase):
    def test_the_last_seed_of_a_cut_scenario_ends_as_it_did(self):
        known = reference.json.loads(reference.RESULTS.read_text(encoding="utf-8"))
        for name in reference.CUTS:
            with self.subTest(name):
                found = reference.simulate(BUILD, name, 1, first=reference.SEEDS_OF_CUT)
                self.assertEqual(reference.differences(name, known[name], found), [])


if __name__ == "__main__":
    if not (BUILD / "cli/tributary").exists():
        print("this build has no programs")
        sys.exit(77)
    if "--rest" in sys.argv:
        unittest.main(argv=[sys.argv[0], "Rest"])
    unittest.main(argv=[sys.argv[0], "Demonstration", "Simulator"])
