#!/usr/bin/env python3
"""Jobs of four agents behind a gateway (`tributary lab up --gateway`), between real daemons: rounds in the network
beside rounds by the star, and with lost packets. Needs root.

usage: gateway.py [--build BUILD] [--values N] [--rounds N] [--repetitions N] [--plane PLANE] [--only PART ...]

Parts:
  thin   the gateway's line to the coordinator has 10 Mbit/s, the agents 1 Gbit/s: THC in the network and
         by the star
  loss   links without a rate, and 1 % loss at each agent in both directions: rounds of the same job

Every run is checked: all its rounds have the collective, and all replicas the coordinator's model; lost packets
do not change it. A figure is the median of the rounds of all repetitions, without the first two of each. The
exit code is 1 if a goal is missed."""

import argparse
import os
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from gateway_lab import Failure, GatewayFederation, Impossible, Setup  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
WARM_UPS = 2
SPEED_UP_MIN, LOSS_COST_MAX = 3, 1.10
# Both links of the part `loss` are in user space, so that only the loss differs.
WITHOUT_LOSS, WITH_LOSS = "delay=100us", "delay=100us,loss=1%"


class Run:
    """The times of a job's rounds, and its model."""

    def __init__(self, build: Path, setup: Setup):
        with GatewayFederation(build, setup) as federation:
            federation.finish()
            collectives = federation.report()["collectives"]
            if collectives != {setup.collective: setup.rounds}:
                raise Failure(f"rounds by {collectives}, expected {setup.rounds} by {setup.collective}")
            models = federation.model_hashes()
            if len(models) != 1:
                raise Failure(f"the replicas differ: {sorted(models)}")
            self.model = models.pop()
            self.round_s = federation.round_s()[WARM_UPS:]


class Bench:
    def __init__(self, arguments):
        self.arguments = arguments
        self.setup = Setup(agents=4, parameters=arguments.values, rounds=arguments.rounds + WARM_UPS,
                           plane=arguments.plane)

    def compare(self, first: Setup, second: Setup) -> tuple:
        """Median seconds of both, which run in turn."""
        runs = [[Run(self.arguments.build, setup) for setup in (first, second)]
                for _ in range(self.arguments.repetitions)]
        for setup, of_setup in zip((first, second), zip(*runs)):
            if len({run.model for run in of_setup}) != 1:
                raise Failure(f"the same job by {setup.collective} has different models")
        if first.collective == second.collective and runs[0][0].model != runs[0][1].model:
            raise Failure("lost packets change the model")
        return tuple(statistics.median(second for run in of_setup for second in run.round_s)
                     for of_setup in zip(*runs))

    def thin(self) -> bool:
        base = self.setup._replace(uplink="rate=10mbit", link="rate=1gbit")
        star, network = self.compare(base._replace(collective="star"), base)
        print(f"10 Mbit/s, by the star      {star * 1e3:9.1f} ms\n"
              f"10 Mbit/s, in the network   {network * 1e3:9.1f} ms, {star / network:.2f} x faster"
              f"  goal >= {SPEED_UP_MIN} x", flush=True)
        return star / network >= SPEED_UP_MIN

    def loss(self) -> bool:
        base = self.setup._replace(uplink="rate=1gbit")
        clean, lossy = self.compare(base._replace(link=WITHOUT_LOSS), base._replace(link=WITH_LOSS))
        print(f"in the network, no loss     {clean * 1e3:9.1f} ms\n"
              f"in the network, 1 % loss    {lossy * 1e3:9.1f} ms, {lossy / clean:.3f} x"
              f"  goal < {LOSS_COST_MAX} x", flush=True)
        return lossy / clean < LOSS_COST_MAX


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--values", type=int, default=1 << 20, help="of the model (1 Mi)")
    parser.add_argument("--rounds", type=int, default=10, help="that count in each run (10)")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--plane", choices=["user", "native", "generic"], default="user")
    parser.add_argument("--only", nargs="+", choices=["thin", "loss"], default=["thin", "loss"])
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    os.umask(0o022)
    bench = Bench(arguments)
    try:
        return 0 if all([getattr(bench, part)() for part in arguments.only]) else 1
    except (Failure, Impossible) as reason:
        print(f"gateway: {reason}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
