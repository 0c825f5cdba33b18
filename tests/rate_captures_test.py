#!/usr/bin/env python3
"""THC with a rate needs fewer bytes than thc:bits=4 for the same error, on each committed captured
gradient (bench/rate_captures.py)."""

import os
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import rate_captures  # noqa: E402

BUILD = os.environ.get("TRIBUTARY_BUILD_DIR", "build/dev")


class Captured(unittest.TestCase):
    def test_every_gradient_keeps_its_bound(self):
        paths = rate_captures.gradients_in([ROOT / "bench/gradients/captured"])
        rows = [rate_captures.measure(BUILD, path) for path in paths]
        self.assertEqual(len(rows), 12)
        self.assertEqual(rate_captures.missed(rows, rate_captures.BOUNDS), [])
        for row in rows:
            self.assertLess(row.rate, 4, row.name)
            self.assertLessEqual(row.rate_error, row.error, row.name)

    def test_a_bound_can_be_missed(self):
        row = rate_captures.Row(name="convnet-sgd-end", values=1, error=0.1, rate=3, rate_error=0.1,
                                fewer=1.3, most_bytes=0.9)
        bounds = {"convnet": 1.3}
        self.assertEqual(rate_captures.missed([row], bounds), [])
        for bad in (row._replace(fewer=1.2), row._replace(fewer=float("nan")),
                    row._replace(most_bytes=1.01)):
            self.assertEqual(rate_captures.missed([bad], bounds), ["convnet-sgd-end"])


if __name__ == "__main__":
    unittest.main()
