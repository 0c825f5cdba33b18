#!/usr/bin/env python3
"""How bench/ddp/compare.py counts and judges. With --lab: a small comparison with real daemons and
processes of DDP, in a lab; skipped without root or python3-torch."""

import json
import math
import os
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "bench/ddp/compare.py"
BUILD = os.environ.get("TRIBUTARY_BUILD_DIR", "build/dev")
SKIPPED = 77
sys.path.insert(0, str(SCRIPT.parent))
import compare  # noqa: E402

GOOD = compare.Figures(step_s=1, step_s_p90=1.1, compute_s=0.1, cpu_s=0.1, sent_bytes=103, needed_bytes=100,
                       loss=1)


class Judging(unittest.TestCase):
    def test_a_ring_sends_three_halves_with_four(self):
        self.assertEqual(compare.ring_bytes(100), 150)

    def test_goals_can_be_met_and_missed(self):
        none, job = compare.HOOKS[0], compare.JOBS[0]
        for step_s, verdict in ((1.05, "1.05 x DDP none, goal 1.05: met"),
                                (1.06, "1.06 x DDP none, goal 1.05: MISSED")):
            figures = {none: GOOD, job: GOOD._replace(step_s=step_s)}
            self.assertEqual(compare.ratio_text(job, figures), verdict)
        self.assertEqual(compare.ratio_text(job, {job: GOOD}), "")
        self.assertEqual(compare.ratio_text(none, {none: GOOD}), "")

    def test_every_job_is_compared_with_a_hook(self):
        hooks = {contender.method for contender in compare.HOOKS}
        self.assertLessEqual({contender.beside for contender in compare.JOBS}, hooks)

    def test_too_few_bytes_are_named(self):
        job = compare.JOBS[0]
        self.assertEqual(compare.wrong_bytes({job: GOOD}), [])
        for bad in (90, float("nan")):
            self.assertEqual(compare.wrong_bytes({job: GOOD._replace(sent_bytes=bad)}), ["fp32 ring"])

    def test_idle_uplinks(self):
        # One agent sends in the second half, the other one in all of it.
        samples = [(0, 0, 0), (1, 0, 100), (2, 100, 200)]
        self.assertEqual(compare.idle_share(samples), 0.25)
        self.assertTrue(math.isnan(compare.idle_share(samples[:1])))

    def test_unknown_rows_are_refused(self):
        self.assertEqual(compare.chosen(["fp32 ring"]), [compare.JOBS[0]])
        with self.assertRaisesRegex(compare.Failure, "expected one of DDP none.*got 'fp32'"):
            compare.chosen(["fp32"])

    def test_processes_agree(self):
        rank = {"step_s": [1, 2], "losses": [3], "local_s": 1, "cpu_s": 1, "sent_bytes": 10,
                "reduced_bytes": 4, "model_sum": 1}
        figures = compare.ddp_figures("DDP none", [rank, rank])
        self.assertEqual((figures.needed_bytes, figures.loss), (6, 3))
        with self.assertRaisesRegex(compare.Failure, "different models"):
            compare.ddp_figures("DDP none", [rank, dict(rank, model_sum=2)])


def small_comparison() -> int:
    """Four rows of a model of 50,000 values. No figure of time is judged."""
    if reason := compare.lacking():
        print(f"skipped, because {reason}")
        return SKIPPED
    rows = ["DDP none", "DDP powersgd", "fp32 ring", "threelc star"]
    done = subprocess.run([sys.executable, "-B", str(SCRIPT), "--build", BUILD, "--hidden", "8", "--steps", "5",
                           "--durability", "stop", "--lab", "ddptest", "--json", *(word for row in rows for word in ("--only", row))],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"compare.py: exit status {done.returncode}: {done.stdout}{done.stderr}")
    figures = {row["name"]: row for row in json.loads(done.stdout)}
    assert list(figures) == rows, done.stdout
    for row in figures.values():
        # The most is that of messages of every step, which do not shrink with the model.
        assert row["needed_bytes"] < row["sent_bytes"] < 1.3 * row["needed_bytes"] + 30e3, row
        assert 0 < row["loss"] < 3, row
    # A ring's agents also send a quarter of the result each to the coordinator.
    ratio = figures["fp32 ring"]["needed_bytes"] / figures["DDP none"]["needed_bytes"]
    assert 1.1 < ratio < 1.25, ratio
    return 0


if __name__ == "__main__":
    if "--lab" in sys.argv:
        sys.exit(small_comparison())
    unittest.main()
