#!/usr/bin/env python3
"""The planner in a closed loop: `tributary sim plan` over all scenarios, beside the goals.

Prints, for each scenario, the planner's time to the goal over that of the best fixed choice in
hindsight (median and worst seed) and the oracle's. Virtual time, so the load of the machine does not
matter. Reserved seeds begin at 100001; use them for final figures only.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SCENARIOS = ROOT / "tests/scenarios/plan"
MEDIAN_MAX = 1.03  # of all runs
WORST_STEADY_MAX, WORST_MAX = 1.25, 1.40
# Where no fixed choice suits: the oracle is at most ORACLE_MAX, and the planner must profit.
ORACLE_MAX, PROFIT_MAX = 0.85, 0.95


class Row(NamedTuple):
    name: str
    steady: bool
    ratios: list  # by seed, the planner's time over the best fixed choice's
    oracle: float  # the median
    switches: int  # the most of one run
    behind: int  # runs slower than the median fixed choice

    def goals(self) -> list:
        """Returns the goals of a scenario and whether each is reached."""
        worst_max = WORST_STEADY_MAX if self.steady else WORST_MAX
        goals = [(f"worst {worst_max:.2f}", max(self.ratios) <= worst_max),
                 ("median fixed choice", self.behind == 0)]
        if self.oracle <= ORACLE_MAX:
            goals.append((f"median {PROFIT_MAX:.2f}", low_median(self.ratios) <= PROFIT_MAX))
        return goals

    def line(self) -> str:
        missed = [name for name, reached in self.goals() if not reached]
        return (f"{self.name:16} {low_median(self.ratios):7.2f} {max(self.ratios):7.2f} {self.oracle:7.2f} "
                f"{self.switches:9}  {'missed: ' + ', '.join(missed) if missed else 'reached'}")


def low_median(values: list) -> float:
    return statistics.median_low(values)


def is_steady(scenario: dict) -> bool:
    links = [scenario.get(key, {}) for key in ("uplinks", "downlinks", "peers")]
    changes = any(key in link for link in links for key in ("steps", "random", "trace"))
    return not changes and not scenario.get("members", {}).get("visitors")


def measure(program: str, path: Path, options: argparse.Namespace) -> Row:
    command = [program, "sim", "plan", str(path), "--json", "--seed", str(options.seed),
               "--seeds", str(options.seeds)]
    if options.threads:
        command += ["--threads", str(options.threads)]
    runs = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["data"]["runs"]
    oracle = low_median([run["oracle_s"] / run["best_fixed"]["s"] for run in runs])
    return Row(path.stem, is_steady(tomllib.loads(path.read_text())), [run["to_best"] for run in runs],
               oracle, max(run["switches"] for run in runs),
               sum(run["planner_s"] > run["median_fixed_s"] for run in runs))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenarios", nargs="*", help="names (all but those that need --full)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--threads", type=int, help="seeds that run at the same time")
    parser.add_argument("--program", default=str(ROOT / "build/release/cli/tributary"))
    return parser.parse_args()


def main() -> int:
    options = arguments()
    names = options.scenarios or sorted(
        path.stem for path in SCENARIOS.glob("*.toml") if not tomllib.loads(path.read_text()).get("full"))
    print(f"planner over best fixed choice, seeds {options.seed} to {options.seed + options.seeds - 1}\n")
    print(f"{'scenario':16} {'median':>7} {'worst':>7} {'oracle':>7} {'switches':>9}  goals")
    rows = []
    for name in names:
        rows.append(measure(options.program, SCENARIOS / f"{name}.toml", options))
        print(rows[-1].line(), flush=True)
    all_runs = low_median([ratio for row in rows for ratio in row.ratios])
    verdict = "reached" if all_runs <= MEDIAN_MAX else "missed"
    missed = sum(not reached for row in rows for _, reached in row.goals())
    print(f"\nmedian of all runs {all_runs:.2f} (goal {MEDIAN_MAX:.2f}, {verdict}); "
          f"{missed} goals of scenarios missed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
