#!/usr/bin/env python3
"""THC with the range of the round before, on updates of a job of real processes.

usage: thc_ranges.py

A job trains with float32. For the update of each round the script computes the expected error of thc (the
table of 4 bits for 4 agents, alike and rounded independently) with the norms of this round, and with those
of the round before times a margin. Prints the NMSE of one round, without error feedback.
"""

import array
import math
import random
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import every_codec_slow_test as jobs  # noqa: E402
from federation import TORCH, ask  # noqa: E402

BLOCK = 4096
BLOCKS = jobs.VALUES // BLOCK
ROUNDS = 40
MARGINS = (1, 1.25, 1.5, 2, 3)


class Table:
    """The levels, and the error of a block on them."""

    def __init__(self):
        plan = ask("plan", "table", "--bits", 4, "--agents", 4)
        self.agents, self.threshold, self.granularity = 4, plan["threshold"], plan["granularity"]
        levels = plan["table"]
        self.cells = []  # for each cell of the grid the level below and the one above
        for low, high in zip(levels, levels[1:]):
            self.cells += [(low, high)] * (high - low)
        self.cells.append(self.cells[-1])

    def square_error(self, rotated: list, norm: float) -> float:
        step = 2 * self.threshold * norm / self.granularity
        total = 0.0
        for value in rotated:
            place = value / step + self.granularity / 2
            clamped = min(max(place, 0.0), float(self.granularity))
            low, high = self.cells[int(clamped)]
            total += (place - clamped) ** 2 + (high - clamped) * (clamped - low) / self.agents
        return total * step * step


def rotate(values: list) -> list:
    y = [value if random.random() < 0.5 else -value for value in values]
    stride = 1
    while stride < len(y):
        for i in range(0, len(y), 2 * stride):
            a, b = y[i:i + stride], y[i + stride:i + 2 * stride]
            y[i:i + stride] = [p + q for p, q in zip(a, b)]
            y[i + stride:i + 2 * stride] = [p - q for p, q in zip(a, b)]
        stride *= 2
    return [value / math.sqrt(len(y)) for value in y]


def norm_of(values: list) -> float:
    return math.sqrt(sum(value * value for value in values) / len(values))


def updates_of(federation: jobs.Federation, mode: str) -> list:
    """The updates of successive rounds, in whole blocks."""
    job = federation.submit(f"ranges-{mode}", {
        **jobs.COMMON, **jobs.MODES[mode], "mode": mode, "rounds": 100_000, "codec": "fp32",
        "agents_min": jobs.AGENTS, "checkpoint_rounds": 100_000, "checkpoint_redo_models": 1e6})
    federation.wait_until(f"round {ROUNDS + 1} of {mode}", lambda: federation.query(
        "SELECT 1 FROM rounds WHERE job = ? AND round = ?", job, ROUNDS + 1))
    ask("job", "stop", job, "--run", federation.journal)
    updates = []
    for number in range(1, ROUNDS + 1):
        values = array.array("f", federation.update_in(job, number).read_bytes())
        updates.append([list(values[i * BLOCK:(i + 1) * BLOCK]) for i in range(BLOCKS)])
    return updates


def compare(table: Table, updates: list) -> tuple:
    """The ratios of the norms of successive rounds, and the NMSE of each round by margin (0: own norms)."""
    ratios, errors = [], {margin: [] for margin in (0, *MARGINS)}
    for before, now in zip(updates, updates[1:]):
        total = dict.fromkeys(errors, 0.0)
        for old, block in zip(before, now):
            norm, norm_before = norm_of(block), norm_of(old)
            ratios.append(norm / norm_before)
            rotated = rotate(block)
            for margin in errors:
                total[margin] += table.square_error(rotated, margin * norm_before or norm)
        energy = sum(value * value for block in now for value in block)
        for margin, error in total.items():
            errors[margin].append(error / energy)
    return ratios, errors


def main() -> int:
    if not TORCH.exists():
        print("this build has no trainer: it needs libtorch-dev")
        return 77
    random.seed(1)
    table = Table()
    with tempfile.TemporaryDirectory(prefix="tributary-ranges-") as folder, jobs.Federation(folder) as federation:
        for mode in jobs.MODES:
            ratios, errors = compare(table, updates_of(federation, mode))
            print(f"{mode}: norm of a block to that before: median {statistics.median(ratios):.2f}, "
                  f"largest {max(ratios):.2f}")
            for margin, nmse in errors.items():
                what = f"round before x {margin}" if margin else "this round"
                print(f"  {what:20} mean {statistics.mean(nmse):.4f}, worst {max(nmse):.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
