"""Runs with a planner beside runs with fixed choices, without waiting for choices that are far behind.

The planner and all fixed choices run with the first seed. A run ends when it has reached the goal, or
when it has taken CUT times as long as the fastest run of this seed so far; it then counts as slower
than that. The fixed choices within NEAR of the best one, at most FINALISTS, and the planner run with
the other seeds in turns. The best fixed choice is the finalist with the smallest mean.
"""

import statistics
from typing import Callable, NamedTuple, Optional

from rows import Row, row
from store import Store

CUT, NEAR, FINALISTS = 2.5, 1.3, 3
BEST_MAX, MEDIAN_MAX, BUSY_MAX = 1.10, 0.70, 1.25
ADAPTIVE = "adaptive"

# Runs one choice with one seed for at most the given time. Returns the seconds to the goal.
Run = Callable[[str, int, float], Optional[float]]


class Timed(NamedTuple):
    seconds: Optional[float]  # None: the goal was not reached
    limit_s: float

    def least_s(self) -> float:
        return self.limit_s if self.seconds is None else self.seconds

    def text(self) -> str:
        return f"more than {self.limit_s:.1f} s" if self.seconds is None else f"{self.seconds:.1f} s"


class Race:
    def __init__(self, store: Store, name: str, fixed: list, run: Run):
        self.store, self.name, self.fixed, self.run = store, name, fixed, run

    def key(self, choice: str, seed: int) -> str:
        return f"{self.name}/{choice}/{seed}"

    def known(self, choice: str, seed: int) -> Optional[Timed]:
        value = self.store.get(self.key(choice, seed))
        return None if value is None else Timed(*value)

    def timed(self, choice: str, seed: int, limit_s: float) -> Timed:
        known = self.known(choice, seed)
        if known is None or (known.seconds is None and known.limit_s < limit_s * 0.9):
            known = Timed(self.run(choice, seed, limit_s), limit_s)
            self.store.put(self.key(choice, seed), list(known))
        print(f"  seed {seed}: {choice:28} {known.text()}", flush=True)
        return known

    def hold(self, seeds: list, limit_s: float) -> None:
        first = [self.timed(ADAPTIVE, seeds[0], limit_s)]
        for choice in self.fixed:
            fastest = min(one.least_s() for one in first)
            first.append(self.timed(choice, seeds[0], min(limit_s, CUT * fastest)))
        for seed in seeds[1:]:
            for choice in [ADAPTIVE, *self.finalists(seeds[0])]:
                self.timed(choice, seed, limit_s)

    def finalists(self, seed: int) -> list:
        """By their time with the first seed, the fastest first."""
        times = {choice: self.known(choice, seed) for choice in self.fixed}
        reached = sorted((one.seconds, choice) for choice, one in times.items()
                         if one is not None and one.seconds is not None)
        return [choice for seconds, choice in reached if seconds <= NEAR * reached[0][0]][:FINALISTS]

    def mean_s(self, choice: str, seeds: list) -> Optional[Timed]:
        """The mean over the seeds; a run that was cut makes it a lower bound."""
        runs = [self.known(choice, seed) for seed in seeds]
        if None in runs:
            return None
        mean = statistics.mean(one.least_s() for one in runs)
        return Timed(None if any(one.seconds is None for one in runs) else mean, mean)

    def to_best(self, seeds: list) -> Optional[tuple]:
        """The planner's mean over that of the best fixed choice, its name, and a sentence."""
        ours = self.mean_s(ADAPTIVE, seeds)
        means = {name: self.mean_s(name, seeds) for name in self.finalists(seeds[0])}
        means = {name: one.seconds for name, one in means.items() if one and one.seconds}
        if ours is None or not means:
            return None
        best = min(means, key=means.get)
        ratio = ours.least_s() / means[best]
        at_least = "at least " if ours.seconds is None else ""
        return ratio, best, (f"{at_least}{ratio:.2f} ({ours.text()}, {best} {means[best]:.1f} s, "
                             f"{len(seeds)} seeds)")

    def to_median(self, seeds: list) -> Optional[tuple]:
        """The same to the median of all fixed choices, all with the first seed. A median that was
        cut off is greater, so the ratio is at most this."""
        ours = self.known(ADAPTIVE, seeds[0])
        fixed = [self.known(name, seeds[0]) for name in self.fixed]
        if ours is None or not fixed or None in fixed:
            return None
        middle = sorted(fixed, key=Timed.least_s)[(len(fixed) - 1) // 2]
        ratio = ours.least_s() / middle.least_s()
        # The planner did not reach the goal: nothing is known but that it is slow.
        if ours.seconds is None:
            return None
        at_most = "at most " if middle.seconds is None else ""
        return ratio, f"{at_most}{ratio:.2f} ({len(fixed)} choices, first seed)"

    def rows(self, seeds: list, part: str, best_max: float, median: bool) -> list:
        best = self.to_best(seeds)
        rows = [row(part, "to the best fixed choice", f"<= {best_max:.2f}", best and best[2],
                    best and best[0] <= best_max)]
        if median:
            middle = self.to_median(seeds)
            rows.append(row(part, "to the median fixed choice", f"<= {MEDIAN_MAX:.2f}",
                            middle and middle[1], middle and middle[0] <= MEDIAN_MAX))
        return rows


def estimated_s(fixed: int, seeds: int, usual_s: float, start_s: float) -> float:
    """Most fixed choices are cut off, two are finalists, and each run has to start."""
    first = usual_s * (1.2 + 1 + (fixed - 1) * 0.85 * CUT)
    others = (seeds - 1) * 3 * 1.2 * usual_s
    return first + others + start_s * (1 + fixed + 3 * (seeds - 1))


__all__ = ["ADAPTIVE", "BEST_MAX", "BUSY_MAX", "Race", "Row", "estimated_s"]
