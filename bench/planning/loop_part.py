"""The closed loop as a part of ./dev bench plan."""

import argparse
import tomllib

import closed_loop
from rows import row
from store import Store

STEADY, OTHER = closed_loop.WORST_STEADY_MAX, closed_loop.WORST_MAX
SCENARIO_S = 45  # of one core, for four seeds


class ClosedLoop:
    name = "closed_loop"
    needs_root = False

    def __init__(self, options: argparse.Namespace, store: Store):
        self.store = store
        self.loop = argparse.Namespace(program=str(options.build / "cli/tributary"), threads=None,
                                       seed=options.loop_seed, seeds=options.loop_seeds)
        self.names = ["steady_fast"] if options.short else sorted(
            path.stem for path in closed_loop.SCENARIOS.glob("*.toml")
            if not tomllib.loads(path.read_text()).get("full"))

    def estimate_s(self) -> float:
        return SCENARIO_S / 4 * self.loop.seeds * len(self.names) / 2

    def key(self, name: str) -> str:
        return f"closed_loop/{name}/{self.loop.seed}+{self.loop.seeds}"

    def measure(self) -> None:
        print(f"  {'scenario':16} {'median':>7} {'worst':>7} {'oracle':>7} {'switches':>9}  goals")
        for name in self.names:
            known = self.store.get(self.key(name))
            if known is None:
                path = closed_loop.SCENARIOS / f"{name}.toml"
                known = self.store.put(self.key(name), list(closed_loop.measure(self.loop.program, path, self.loop)))
            print("  " + closed_loop.Row(*known).line(), flush=True)

    def rows(self) -> list:
        found = [self.store.get(self.key(name)) for name in self.names]
        whole = None not in found
        rows = [closed_loop.Row(*one) for one in found if one is not None]
        part = self.name

        def worst(what: str, limit: float, chosen: list) -> list:
            each = max(chosen, key=lambda one: max(one.ratios), default=None)
            return row(part, what, f"<= {limit:.2f}", each and f"{max(each.ratios):.2f} ({each.name})",
                       each and max(each.ratios) <= limit if whole else None)

        ratios = [ratio for each in rows for ratio in each.ratios]
        median = closed_loop.low_median(ratios) if ratios else None
        unsuited = [each for each in rows if each.oracle <= closed_loop.ORACLE_MAX]
        middles = {each.name: closed_loop.low_median(each.ratios) for each in unsuited}
        most = max(middles, key=middles.get, default=None)
        behind = sum(each.behind for each in rows)
        return [
            row(part, "median of all runs to the best fixed choice", f"<= {closed_loop.MEDIAN_MAX:.2f}",
                median and f"{median:.3f} ({len(ratios)} runs)",
                median <= closed_loop.MEDIAN_MAX if whole and median else None),
            worst("worst run, steady links", STEADY, [each for each in rows if each.steady]),
            worst("worst run, other links", OTHER, [each for each in rows if not each.steady]),
            row(part, f"greatest median where the oracle has {closed_loop.ORACLE_MAX:.2f} or less",
                f"<= {closed_loop.PROFIT_MAX:.2f}", most and f"{middles[most]:.2f} ({most})",
                middles[most] <= closed_loop.PROFIT_MAX if whole and most else None),
            row(part, "runs slower than the median fixed choice", "0", str(behind) if rows else None,
                behind == 0 if whole else None)]
