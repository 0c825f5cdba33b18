#!/usr/bin/env python3
"""Every key of a job changes a job of real processes, or a test is named that shows its effect: a key that
nothing reads is found. The list of keys is that of the code."""

import sys
import tempfile
import unittest

from every_codec_slow_test import COMMON, MODES, Federation
from federation import TORCH
from run_guide_test import ROOT, bound_in

ROUNDS = 3
# One agent: the order of several, and so the rounding of their sum, follows from their arrival.
DELTA = {"mode": "delta", **MODES["delta"], "rounds": ROUNDS, "codec": "fp32", "collective": "star",
         "agents": ["agent-0"], "agents_min": 1}
GRADIENT = {**DELTA, "mode": "gradient", **MODES["gradient"]}
PAIR = {**DELTA, "agents": ["agent-0", "agent-1"], "agents_min": 2}
# By key: a job, and another value of the key.
OTHER = {
    "agents": (DELTA, ["agent-1"]),
    "batch_size": (DELTA, 16),
    "bucket_values": (DELTA, 1024),
    "clip_norm": (GRADIENT, 0.01),
    "clip_value": (GRADIENT, 0.001),
    "codec": (DELTA, "int8"),
    "codecs": (DELTA, ["fp32", "int8"]),
    "collective": (PAIR, "ring"),
    "deadline_ms": (DELTA, 50_000),
    "epochs": (DELTA, 1),
    "exchanges_per_round": ({**PAIR, "collective": "ring"}, 2),
    "learning_rate": (DELTA, 0.1),
    "local_steps": (DELTA, 2),
    "mode": (DELTA, "gradient"),
    "model": (DELTA, "mlp:hidden=8,depth=1"),
    "optimizer": (DELTA, "adam"),
    "rounds": (DELTA, ROUNDS + 1),
    "schedule": (DELTA, "step:every=1,factor=0.5"),
    "seed": (DELTA, 8),
    "strategy": (DELTA, "fedadam"),
}
# Keys whose effect these jobs cannot have or not show, with the test that shows it.
ELSEWHERE = {
    "agents_min": "core/sim/federation/participants_test.cc",
    "bytes_per_day": "coordinator/planning/plan_service_test.cc",
    "catch_up_wait_ms": "core/sim/federation/participants_test.cc",
    "checkpoint_redo_models": "core/round/coordinator/commit/commit_writer_test.cc",
    "checkpoint_rounds": "core/round/coordinator/commit/commit_writer_test.cc",
    "classes": "tests/end_to_end/training/training_test.cc",
    "deviation": "tests/end_to_end/training/training_test.cc",
    "evaluate_every": "tests/end_to_end/training/training_test.cc",
    "exploring": "core/sim/federation/codec_trials_test.cc",
    "exploring_share": "core/sim/federation/codec_trials_test.cc",
    "fraction": "core/sim/federation/participants_test.cc",
    "gain_min": "core/plan/decide_test.cc",
    "gain_weight": "core/plan/decide_test.cc",
    "fusion": "tests/end_to_end/training/fusion_test.cc",
    "grace_factor": "core/round/coordinator/attempt/attempt_test.cc",
    "grace_ms": "core/sim/federation/stragglers_test.cc",
    "input": "tests/end_to_end/training/training_test.cc",
    "label": "tests/end_to_end/training/training_test.cc",
    "layer_values": "core/round/common/plan/plan_builder_test.cc",
    "layers": "core/job/job_settings_test.cc",
    "loss": "core/train/torch/torch_model_test.cc",
    "mean": "tests/end_to_end/training/training_test.cc",
    "model_file": "tests/end_to_end/training/training_test.cc",
    "name": "tests/end_to_end/jobs_test.cc",
    "norm_max": "core/round/agent/participation/participation_test.cc",
    "outputs": "core/train/torch/torch_model_test.cc",
    "parameters": "tests/end_to_end/federation/federation.cc",
    "plan_codecs": "tests/end_to_end/planner_test.cc",
    "plan_collectives": "tests/end_to_end/planner_test.cc",
    "planning": "tests/end_to_end/planner_test.cc",
    "preliminary_deadline_ms": "core/sim/federation/rounds_test.cc",
    "quorum": "core/round/coordinator/attempt/attempt_test.cc",
    "retry_after_ms": "core/sim/federation/faults_test.cc",
    "separator": "tests/end_to_end/training/training_test.cc",
    "task": "core/train/torch/torch_model_test.cc",
    "time_budget_s": "tests/end_to_end/planner_test.cc",
    "weight_cap": "core/round/coordinator/context/membership_test.cc",
    "weighting": "core/sim/federation/participants_test.cc",
}


class JobKeys(unittest.TestCase):
    def test_every_key_has_an_entry(self):
        self.assertEqual(set(OTHER) | set(ELSEWHERE), bound_in("core/job/job_settings.cc"))
        self.assertEqual(set(OTHER) & set(ELSEWHERE), set())
        for key, test in ELSEWHERE.items():
            with self.subTest(key):
                self.assertIn(key, (ROOT / test).read_text(encoding="utf-8"))

    def test_other_values_change_the_job(self):
        usual = {}
        with tempfile.TemporaryDirectory(prefix="tributary-keys-") as folder, Federation(folder) as federation:
            for key, (job, value) in OTHER.items():
                job = {**COMMON, **job}
                with self.subTest(key):
                    known = str(job)
                    if known not in usual:
                        usual[known] = self.outcome(federation, job)
                        self.assertEqual(self.outcome(federation, job), usual[known],
                                         "two jobs that are the same differ")
                    self.assertNotEqual(self.outcome(federation, {**job, key: value}), usual[known],
                                        f"{key} = {value!r} changes nothing")

    def outcome(self, federation: Federation, job: dict) -> tuple:
        """What a key could change: the model of one agent, who is in it, the bytes, the plans."""
        number, hashes = federation.finish(f"job-{len(federation.query('SELECT 1 FROM jobs'))}", job)
        return hashes if len(hashes) == len(job["agents"]) == 1 else {}, federation.query(
            "SELECT round, members, buckets, bytes_up, bytes_down, codecs, collectives, quorum, deadline_ms, "
            "bits FROM rounds JOIN plans USING (round_row) JOIN contributor_sets USING (round_row) "
            "WHERE job = ? ORDER BY round, place", number)


if __name__ == "__main__":
    if not TORCH.exists():
        print("this build has no trainer: it needs libtorch-dev")
        sys.exit(77)
    unittest.main()
